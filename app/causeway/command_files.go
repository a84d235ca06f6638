package main

import (
	"context"
	"errors"
	"io"

	"causeway/adapters/checkpoints"
	"causeway/adapters/cli"
	"causeway/adapters/sanctions"
	"causeway/app/audit"
	"causeway/core/screening"
)

// readCheckpoints reads the checkpoints that were published in a folder, a file or at a URL.
func readCheckpoints(ctx context.Context, where string) (found []audit.PublishedCheckpoint, err error) {
	sources, err := checkpoints.Open(ctx, where)
	if err != nil {
		return nil, err
	}
	for _, source := range sources {
		checkpoints, readErr := audit.ReadCheckpoints(source.Name, source.Text)
		err = errors.Join(err, readErr, source.Text.Close())
		found = append(found, checkpoints...)
	}
	return found, err
}

func readSanctions(list screening.List, file, aliases, addresses io.Reader) (cli.SanctionsFile, error) {
	read, err := sanctions.Read(list, file, aliases, addresses)
	return cli.SanctionsFile{Entries: read.Entries, PublishedAt: read.PublishedAt}, err
}
