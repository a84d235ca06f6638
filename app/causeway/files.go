package main

import (
	"fmt"
	"path/filepath"

	"causeway/adapters/blobs"
	"causeway/adapters/encryption"
	"causeway/ports"
)

// blobFlags say where the files of documents are stored.
type blobFlags struct {
	Blobs          string `name:"blobs" env:"CAUSEWAY_BLOBS" help:"Where the files of documents are stored, encrypted: folder:/path, shared by all processes, or s3://bucket/prefix?endpoint=https://host&region=name. Without it no documents are accepted; causeway dev uses a folder in the data folder." placeholder:"LOCATION"`
	BlobsAccessKey string `name:"blobs-access-key" env:"CAUSEWAY_BLOBS_ACCESS_KEY" secret:"" help:"Access key of the bucket. Default: AWS_ACCESS_KEY_ID, or the role of the machine." placeholder:"KEY"`
	BlobsSecretKey string `name:"blobs-secret-key" env:"CAUSEWAY_BLOBS_SECRET_KEY" secret:"" help:"Secret key of the bucket. Default: AWS_SECRET_ACCESS_KEY, or the role of the machine." placeholder:"KEY"`
}

// openFiles opens the store of the files of documents; nil if none is configured.
func (f blobFlags) openFiles() (ports.Files, error) {
	if f.Blobs == "" {
		return nil, nil //nolint:nilnil // documents are refused then
	}
	store, err := blobs.Open(f.Blobs, blobs.Credentials{AccessKey: f.BlobsAccessKey, SecretKey: f.BlobsSecretKey})
	if err != nil {
		return nil, fmt.Errorf("--blobs (CAUSEWAY_BLOBS): %w", err)
	}
	return encryption.NewFiles(store), nil
}

// inFolder returns the flags with a folder of the data folder as the default.
func (f blobFlags) inFolder(data string) blobFlags {
	if f.Blobs == "" {
		f.Blobs = "folder:" + filepath.ToSlash(filepath.Join(data, "blobs"))
	}
	return f
}
