// What is used of msw, which only those install who test with it.
declare module "msw" {
  export interface HttpHandler {
    readonly info: object;
  }
  export const http: {
    all(path: string, resolver: (info: { readonly request: Request }) => Promise<Response> | undefined): HttpHandler;
  };
}
