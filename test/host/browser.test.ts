import { expect, test } from 'vitest';
import { browserCommand, canShowBrowser } from '../../src/host/server/browser.ts';

const URL = 'http://127.0.0.1:8080/a';

test('a browser is opened where the user sees it', () => {
  expect(canShowBrowser({ DISPLAY: ':0' }, 'linux')).toBe(true);
  expect(canShowBrowser({ WAYLAND_DISPLAY: 'wayland-0' }, 'freebsd')).toBe(true);
  expect(canShowBrowser({}, 'darwin')).toBe(true);
  expect(canShowBrowser({}, 'win32')).toBe(true);
  expect(canShowBrowser({}, 'linux')).toBe(false);
  expect(canShowBrowser({ DISPLAY: '', WAYLAND_DISPLAY: '' }, 'linux')).toBe(false);
  // With and without a forwarded display.
  for (const platform of ['linux', 'darwin', 'win32'] as const)
    for (const env of [{ SSH_CONNECTION: '10.0.0.2 50000 10.0.0.1 22' }, { SSH_TTY: '/dev/pts/0', DISPLAY: 'localhost:10.0' }])
      expect(canShowBrowser(env, platform)).toBe(false);
});

test('each system has its own program for that', () => {
  expect(browserCommand(URL, {}, 'linux')).toEqual({ program: 'xdg-open', args: [URL] });
  expect(browserCommand(URL, {}, 'darwin')).toEqual({ program: '/usr/bin/open', args: [URL] });
  expect(browserCommand(URL, { SystemRoot: 'D:\\Win' }, 'win32')).toEqual({
    program: 'D:\\Win\\System32\\rundll32.exe',
    args: ['url.dll,FileProtocolHandler', URL],
  });
  expect(browserCommand(URL, {}, 'win32').program).toBe('C:\\Windows\\System32\\rundll32.exe');
});
