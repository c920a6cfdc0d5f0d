import { homedir } from 'node:os';

/** The user's home directory; empty if there is none, as for a user in a container whom the system does not know. */
export function homeDirectory(): string {
  try {
    return homedir();
  } catch {
    return '';
  }
}
