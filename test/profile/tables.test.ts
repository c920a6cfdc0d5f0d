import { expect, test } from 'vitest';
import { CPUMODE_USER, LocationTable } from '../../src/profile/location-table.ts';

test('LocationTable keeps functions, lines and stand-ins while it grows', () => {
  const locations = new LocationTable();
  const size = 5000;
  for (let nth = 0; nth < size; nth++) locations.intern(0, nth, 0, CPUMODE_USER, false);
  const line = { function: 7, line: 8, column: 9, file: 10 };
  for (let nth = 0; nth < size; nth++) {
    if (nth % 3 === 1) locations.setLines(nth, [line, { ...line, function: nth }], nth);
    else locations.setStandIn(nth, nth);
  }
  const found = Array.from({ length: size }, (_, nth) => {
    const last = locations.lineCount(nth) - 1;
    return [locations.isStandIn(nth), last, locations.lineFunction(nth, last), locations.lineNumber(nth, last), locations.lineColumn(nth, last)].join();
  });
  expect(found).toEqual(Array.from({ length: size }, (_, nth) => (nth % 3 === 1 ? [false, 1, nth, 8, 9] : [true, 0, nth, 0, 0]).join()));
});
