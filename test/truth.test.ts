import { describeTruth } from './support/describe-truth.ts';
import { fixtureFile, fixtureNames } from './support/fixture-files.ts';

describeTruth(fixtureNames.map((name) => [name, fixtureFile(name)] as const));
