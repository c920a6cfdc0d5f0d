import { withTheirBytes } from '../host/system-path.ts';
import { main } from './main.ts';

process.exitCode = await main(withTheirBytes(process.argv.slice(2)), process);
