import { homedir } from 'node:os';

/** The user's home directory; empty where there is none, as for a user of a container whom the system does not know. */
export function homeDirectory(): string {
  try {
    return homedir();
  } catch {
    return '';
  }
}
