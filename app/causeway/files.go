package main

import (
	"fmt"

	"causeway/adapters/blobs"
	"causeway/adapters/cli"
	"causeway/adapters/encryption"
	"causeway/ports"
)

// openFiles opens the store of the files of documents; nil if none is configured.
func openFiles(f cli.BlobFlags) (ports.Files, error) {
	if f.Blobs == "" {
		return nil, nil //nolint:nilnil // documents are refused then
	}
	store, err := blobs.Open(f.Blobs, blobs.Credentials{AccessKey: f.BlobsAccessKey, SecretKey: f.BlobsSecretKey})
	if err != nil {
		return nil, fmt.Errorf("--blobs (CAUSEWAY_BLOBS): %w", err)
	}
	return encryption.NewFiles(store), nil
}
