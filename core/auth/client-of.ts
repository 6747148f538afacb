// Who shares a bound with whom when nobody has said who he is.

/** `address` as text. Of the sixth version of IP the network: whoever has one address there has all of it. */
export const clientOf = (address: string): string => (address.includes(':') ? address.split(':', 4).join(':') : address);
