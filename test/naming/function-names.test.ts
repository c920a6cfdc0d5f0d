import { describe, expect, it } from 'vitest';
import { demangleSymbol } from '../../src/naming/function-names.ts';

// A lambda in a constructor template whose argument is a lambda in std::call_once, from libstdc++ 12. The constructor's parameter, RS8_, repeats the template
// parameter that std::call_once has in its own parameters.
const REPEATED = '_ZZNSt9once_flag18_Prepare_executionC4IZSt9call_onceIMSt6threadFvvEJPS3_EEvRS_OT_DpOT0_EUlvE_EERS8_ENUlvE_4_FUNEv';
const CALL_ONCE = 'std::call_once<void (std::thread::*)(), std::thread*>(std::once_flag&, void (std::thread::*&&)(), std::thread*&&)::{lambda()#1}';
const PREPARE = `std::once_flag::_Prepare_execution::_Prepare_execution<${CALL_ONCE}>`;

describe('a reference to a template parameter that a substitution repeats', () => {
  it('is to the argument of the template that it is in', () => {
    expect(demangleSymbol(REPEATED, 'no-params')).toBe(`${PREPARE}(${CALL_ONCE}&)::{lambda()#1}::_FUN`);
  });

  it('is to what it was to the first time, as in perf', () => {
    expect(demangleSymbol(REPEATED, 'no-params', true)).toBe(`${PREPARE}(void (std::thread::*&)())::{lambda()#1}::_FUN`);
    expect(demangleSymbol(`${REPEATED}@plt`, 'full', true)).toBe(`${PREPARE}(void (std::thread::*&)())::{lambda()#1}::_FUN()@plt`);
  });
});
