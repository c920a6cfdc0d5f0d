import type { ProfileMeta } from '../../profile/profile.ts';
import type { FieldBytes } from '../pprof/field-bytes.ts';
import { type AttributeValue, putAnyValue } from './attributes.ts';
import { INSTRUMENTATION_SCOPE, KEY_VALUE, RESOURCE, RESOURCE_PROFILES, SCOPE_PROFILES } from './field-numbers.ts';

/** The version of the semantic conventions that names of attributes are from. */
const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.43.0';

/** Values of `host.arch` for what uname calls the machine, where they differ. */
const ARCHITECTURES: readonly (readonly [machine: RegExp, value: string])[] = [
  [/^x86_64$/, 'amd64'],
  [/^aarch64/, 'arm64'],
  [/^arm/, 'arm32'],
  [/^i[3-6]86$/, 'x86'],
  [/^(?:ppc64|powerpc64)/, 'ppc64'],
  [/^(?:ppc|powerpc)/, 'ppc32'],
];

/**
 * Writes what is known about the machine that was recorded. Nothing about its programs: a recording may be of several. The command line of perf is no attribute of
 * a process, so it is among the comments of profiles.
 */
export function putResource(fields: FieldBytes, { hostName, osRelease, arch }: ProfileMeta): void {
  const resource = fields.begin(RESOURCE_PROFILES.resource);
  const hostArch = ARCHITECTURES.find(([machine]) => machine.test(arch))?.[1] ?? arch;
  const attributes = { 'host.name': hostName, 'host.arch': hostArch, 'os.type': 'linux', 'os.version': osRelease };
  for (const [key, value] of Object.entries(attributes)) if (value !== '') putKeyValue(fields, key, value);
  fields.end(resource);
  fields.text(RESOURCE_PROFILES.schemaUrl, SCHEMA_URL);
}

function putKeyValue(fields: FieldBytes, key: string, value: AttributeValue): void {
  const start = fields.begin(RESOURCE.attributes);
  fields.text(KEY_VALUE.key, key);
  putAnyValue(fields, KEY_VALUE.value, value);
  fields.end(start);
}

/** Writes which program made the profiles. @param exporter `perfconv@1.0.0` */
export function putScope(fields: FieldBytes, exporter: string): void {
  const [name, version = ''] = exporter.split('@');
  const scope = fields.begin(SCOPE_PROFILES.scope);
  fields.text(INSTRUMENTATION_SCOPE.name, name);
  if (version !== '') fields.text(INSTRUMENTATION_SCOPE.version, version);
  fields.end(scope);
  fields.text(SCOPE_PROFILES.schemaUrl, SCHEMA_URL);
}
