import { fixtureFile, fixtureNames } from './support/fixture-files.ts';
import { describeTruth } from './support/truth/describe-truth.ts';

describeTruth(fixtureNames.map((name) => [name, fixtureFile(name)] as const));
