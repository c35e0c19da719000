// What the compiler does not see: promises that nobody waits for, and names that nobody uses.
import tseslint from "typescript-eslint";

export default tseslint.config({
  files: ["src/chartpact/server/static/js/*.js"],
  extends: [tseslint.configs.base],
  languageOptions: { parserOptions: { project: "tsconfig.json", tsconfigRootDir: import.meta.dirname } },
  rules: {
    "@typescript-eslint/await-thenable": "error",
    "@typescript-eslint/no-floating-promises": "error",
    "@typescript-eslint/no-misused-promises": ["error", { checksVoidReturn: false }],
    "@typescript-eslint/no-unused-vars": "error",
    eqeqeq: "error",
    "no-undef-init": "error",
    "no-var": "error",
    "prefer-const": ["error", { destructuring: "all" }],
  },
});
