/** The path of the reference page's script, imported as a file. */
declare module "*/browser/standalone.js" {
  const path: string;
  export default path;
}
