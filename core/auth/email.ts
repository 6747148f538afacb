// E-mail addresses as they are compared: capital letters of ASCII count as small ones. Others are left alone: letters that look like none of these, such as
// the Kelvin sign, become them by full case mapping, and whoever has an address with one would be somebody else.

export const plainEmail = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
