import type { RecordedResponse, RecordedResponses } from "./recorded-responses.ts";

/**
 * A configuration that makes nginx give ready-made responses from memory: what HTTP itself costs. One
 * process like all the others; its access log has the default form, written in batches as the
 * service writes its own.
 */
export function nginxConfig(folder: string, port: number, responses: RecordedResponses): string {
  return `daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log stderr;
events { worker_connections 1024; }
http {
  access_log /dev/null combined buffer=64k flush=1s;
  server_tokens off;
  keepalive_requests 1000000000;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  server {
    listen 127.0.0.1:${port};
    location = /v1/pets { ${directivesFor(responses.list)} }
    location /v1/pets/ { ${directivesFor(responses.get)} }
  }
}
`;
}

function directivesFor({ body, headers }: RecordedResponse): string {
  const { "Content-Type": type = "application/json", ...others } = headers;
  const added = Object.entries(others).map(([name, value]) => `add_header ${name} ${quoted(value)};`);
  return [`default_type ${type};`, ...added, `return 200 ${quoted(body)};`].join(" ");
}

function quoted(text: string): string {
  if (text.includes("$")) throw new Error("nginx would read a variable in an answer that holds a dollar sign.");
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
