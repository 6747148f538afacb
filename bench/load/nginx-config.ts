// The nginx that the gateway is measured against: one worker, keep-alive both ways, streams unbuffered
// (the fake provider asks for that with X-Accel-Buffering), request bodies passed on as they come, no log.
export function nginxConfig(directory: string, port: number, upstreamPort: number, openFiles: number): string {
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  return `
daemon off;
${user}
worker_processes 1;
worker_rlimit_nofile ${Number.isFinite(openFiles) ? openFiles : 65536};
pid ${directory}/nginx.pid;
error_log ${directory}/nginx-error.log warn;
events { worker_connections 16384; }
http {
  access_log off;
  client_body_temp_path ${directory}/nginx-body;
  proxy_temp_path ${directory}/nginx-proxy;
  fastcgi_temp_path ${directory}/nginx-fastcgi;
  uwsgi_temp_path ${directory}/nginx-uwsgi;
  scgi_temp_path ${directory}/nginx-scgi;
  client_max_body_size 0;
  large_client_header_buffers 4 64k;
  tcp_nodelay on;
  keepalive_timeout 75s;
  keepalive_requests 100000000;
  upstream provider {
    server 127.0.0.1:${upstreamPort};
    keepalive 512;
    keepalive_requests 100000000;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location = /ready { return 200 "ready\\n"; }
    location / {
      proxy_pass http://provider;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_request_buffering off;
      proxy_read_timeout 120s;
    }
  }
}
`;
}
