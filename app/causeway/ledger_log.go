package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"causeway/adapters/heads"
	"causeway/adapters/ids"
	"causeway/adapters/postgres"
	"causeway/adapters/seal"
	"causeway/core/ident"
	"causeway/ledger"
)

type ledgerExportCommand struct {
	where
	Format   string `required:"" enum:"log" help:"log: what its log is made of, for verify." placeholder:"FORMAT"`
	Platform string `help:"The platform. Needed where there are several." placeholder:"ID"`
	Output   string `help:"File to write. Without it, standard output." type:"path" placeholder:"FILE"`
	Size     int64  `help:"Postings up to this number, such as the size of a head. Without it, all there are." placeholder:"NUMBER"`
}

func (l ledgerExportCommand) Run(ctx context.Context, out io.Writer) error {
	return l.in(ctx, func(db *postgres.DB) error {
		platform, err := onlyPlatform(ctx, db, l.Platform)
		if err != nil {
			return err
		}
		if l.Output == "" {
			_, err := booksOf(db).ExportLog(ctx, platform, l.Size, out, nil)
			return err
		}
		var size int64
		err = writeWhole(l.Output, func(file io.Writer) (err error) {
			progress := newProgress(os.Stderr, "postings")
			defer progress.end()
			size, err = booksOf(db).ExportLog(ctx, platform, l.Size, file, progress.at)
			return err
		})
		if err == nil {
			_, err = fmt.Fprintf(out, "%d postings of %s are in %s\n", size, ledger.LogOrigin(platform), l.Output)
		}
		return err
	})
}

// onlyPlatform is the one named, or the only one with postings.
func onlyPlatform(ctx context.Context, db *postgres.DB, name string) (ident.Platform, error) {
	if name != "" {
		platform, err := ident.ParsePlatform(name)
		if err != nil {
			return platform, fmt.Errorf("--platform: %w", err)
		}
		return platform, nil
	}
	platforms, err := booksOf(db).Platforms(ctx)
	switch {
	case err != nil:
		return ident.Platform{}, err
	case len(platforms) == 0:
		return ident.Platform{}, errors.New("nothing has been posted yet")
	case len(platforms) > 1:
		return ident.Platform{}, fmt.Errorf("%d platforms have postings: say which one with --platform", len(platforms))
	}
	return platforms[0], nil
}

// writeWhole writes a file whole or not at all.
func writeWhole(path string, write func(io.Writer) error) error {
	part := path + ".part"
	file, err := os.Create(part)
	if err != nil {
		return err
	}
	err = write(file)
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		_ = os.Remove(part)
	}
	return err
}

type ledgerRotateCommand struct {
	where
	MasterKey string `name:"master-key" env:"CAUSEWAY_MASTER_KEY" help:"The master key of the service. Without it, the one of the data folder." placeholder:"KEY"`
}

// Run replaces the key that signs heads; it never asks for the old one, which may be
// lost.
func (l ledgerRotateCommand) Run(ctx context.Context, out io.Writer) error {
	read := func() ([32]byte, error) { return masterKey(l.MasterKey) }
	if l.MasterKey == "" {
		read = func() ([32]byte, error) { return ownMasterKey(l.Data) }
	}
	master, err := read()
	if err != nil {
		return err
	}
	box, err := seal.New(master[:])
	if err != nil {
		return err
	}
	return l.in(ctx, func(db *postgres.DB) error {
		key, err := heads.NewKeyring(db.Log(), box, clock{}, ids.New()).Rotate(ctx)
		if err == nil {
			_, err = fmt.Fprintf(out, "Heads are signed with key %s from now on. GET /ledger/log/keys shows it.\n", key.ID)
		}
		return err
	})
}
