import process from 'node:process';
import { defineConfig } from 'vite';

// The built files are part of the Rust crate, so that installing it needs no Node. Their names are fixed:
// `crates/wink/src/window/page.rs` lists them.
export default defineConfig({
  build: {
    outDir: process.env['WINK_DIST'] ?? '../crates/wink/src/window/dist',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: false,
    cssCodeSplit: false,
    rollupOptions: {
      output: {
        entryFileNames: 'assets/app.js',
        chunkFileNames: 'assets/[name].js',
        assetFileNames: (asset) => {
          const name = asset.names[0] ?? '';
          if (name.startsWith('inter')) return 'assets/inter.woff2';
          if (name.startsWith('jetbrains')) return 'assets/mono.woff2';
          return 'assets/app[extname]';
        },
      },
    },
  },
});
