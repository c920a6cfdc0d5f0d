import type { ConvertOutput, SampleFilter } from '../../pipeline/convert.ts';
import type { ReadProfileOptions } from '../../pipeline/read-profile.ts';
import type { WriteOptions } from '../../pipeline/write-profile.ts';
import type { Run } from '../run/run.ts';

/** Makes one result of all inputs of a run. */
export async function convertMerged(
  run: Run<ReadProfileOptions>,
  outputs: readonly ConvertOutput[],
  options: WriteOptions & { readonly filter: SampleFilter },
): Promise<void> {
  const { MergedConversion } = await import('../../pipeline/convert-merged.ts');
  const conversion = new MergedConversion(outputs, options, run.diagnostics);
  await run.readEach(
    (recording, label) => conversion.add(recording.source, label, recording.options, recording.diagnostics),
    () => conversion.writeRecords(),
  );
  await conversion.finish();
}
