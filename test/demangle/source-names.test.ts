import { describe, expect, it } from 'vitest';
import { inDemanglerTerms, simplifySourceName } from '../../src/demangle/source-names.ts';

describe('a name in source code is shortened like a demangled one', () => {
  it.each([
    ['main', 'main'],
    ['std::sort<int*, less<int> >', 'std::sort'],
    ['std::vector<int, std::allocator<int> >::push_back', 'std::vector::push_back'],
    ['(anonymous namespace)::Box<T>::get', '(anonymous namespace)::Box::get'],
    ['app::run(std::vector<int>&, void (*)(int)) const::{lambda(int)}::operator()<int>', 'app::run()::{lambda(int)}::operator()'],
    ['f()::Local::g', 'f()::Local::g'],
    ['operator<', 'operator<'],
    ['operator<<int>', 'operator<'],
    ['operator< <int>', 'operator<'],
    ['operator<<', 'operator<<'],
    ['operator<<<int>', 'operator<<'],
    ['operator<< <std::char_traits<char> >', 'operator<<'],
    ['operator<=><int>', 'operator<=>'],
    ['operator&<int>', 'operator&'],
    ['Box<int>::operator->', 'Box::operator->'],
    ['Box<int>::operator()', 'Box::operator()'],
    ['Box<int>::operator[]<long>', 'Box::operator[]'],
    ['Box<&Box<int>::operator> >::get', 'Box::get'],
    ['f<(a->b)>::g', 'f::g'],
    ['cooperator<int>', 'cooperator'],
    ['core::slice::<impl [T]>::sort<u64>', 'core::slice::<impl [T]>::sort'],
    ['f[abi:cxx11]<int>', 'f[abi:cxx11]'],
    ['open<int', 'open<int'],
    ['open(int', 'open(int'],
    ['closed>)', 'closed>)'],
    ['', ''],
  ])('%s', (name, simple) => expect(simplifySourceName(name)).toBe(simple));
});

it('a type that gcc names after its lambda gets the name that demanglers use', () => {
  expect(['<lambda(int, int)>', '<lambda', 'lambda(int)', ''].map(inDemanglerTerms)).toEqual(['{lambda(int, int)}', '<lambda', 'lambda(int)', '']);
});
