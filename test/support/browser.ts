// As much of a browser as sign-in needs: it keeps cookies and follows nothing.

export interface Answer {
  readonly status: number;
  readonly location: string;
  readonly headers: Headers;
  // The shapes are what the tests are about.
  readonly body: Record<string, any>;
}

export class Browser {
  readonly cookies = new Map<string, string>();

  async go(url: string, options: RequestInit = {}): Promise<Answer> {
    const headers = new Headers(options.headers);
    if (this.cookies.size > 0) headers.set('cookie', this.header);
    const response = await fetch(url, { ...options, headers, redirect: 'manual' });
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';');
      const end = pair.indexOf('=');
      const [name, value] = [pair.slice(0, end), pair.slice(end + 1)];
      if (value === '' || /Max-Age=0/i.test(cookie)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    return { status: response.status, location: response.headers.get('location') ?? '', headers: response.headers, body: isJson && text !== '' ? JSON.parse(text) : { text } };
  }

  get header(): string {
    return [...this.cookies].map((pair) => pair.join('=')).join('; ');
  }
}
