declare module "*.svg" {
  /** The address of the file, relative to the script's. */
  const address: string;
  export default address;
}
