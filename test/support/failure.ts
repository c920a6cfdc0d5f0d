import { PerfconvError, type PerfconvErrorCode } from '../../src/base/problems/errors.ts';

/** What a promise is rejected with: the code and message of a {@link PerfconvError}. @throws if it is fulfilled, or rejected with anything else */
export async function failure(work: Promise<unknown>): Promise<[PerfconvErrorCode, string]> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof PerfconvError)) throw new Error(`expected a PerfconvError, got ${error}`);
  return [error.code, error.message];
}
