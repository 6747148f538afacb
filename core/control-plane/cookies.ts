// Cookies of people who sign in (RFC 6265). Over TLS their names bind them to this host and to TLS: no other host of the domain can set them.

export const isSecureOrigin = (origin: string): boolean => origin.startsWith('https:');

export const sessionCookie = (isSecure: boolean): string => `${isSecure ? '__Host-' : ''}gateway_session`;
/** Cookie with the state of a sign-in, until the browser comes back from the identity provider. */
export const signInCookie = (isSecure: boolean): string => `${isSecure ? '__Host-' : ''}gateway_sign_in`;

const partsOf = (header: string): readonly (readonly [name: string, value: string])[] => header.split(';').map((part) => {
  const text = part.trim();
  const end = text.indexOf('=');
  return end === -1 ? [text, ''] : [text.slice(0, end), text.slice(end + 1)];
});

export const cookieOf = (header: string, name: string): string | undefined => partsOf(header).find(([each]) => each === name)?.[1];

export const withoutCookie = (header: string, name: string): string => partsOf(header).filter(([each]) => each !== name && each !== '').map((part) => part.join('=')).join('; ');

/** A value for `set-cookie`; without `value` it takes the cookie away. */
export const setCookie = (name: string, value: string, seconds: number, isSecure: boolean): string =>
  `${name}=${value}; Path=/; Max-Age=${value === '' ? 0 : seconds}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
