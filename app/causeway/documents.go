package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"causeway/adapters/documentfiles"
	"causeway/adapters/postgres"
	"causeway/app/customers"
	"causeway/core/document"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

type documentsCommand struct {
	List documentsListCommand `cmd:"" help:"Print the documents of a customer or a beneficial owner, with the files that were submitted for verification and then replaced."`
	Show documentsShowCommand `cmd:"" help:"Write the file of a document, decrypted, to a file that only you can read. Who opened it is recorded."`
}

type documentsListCommand struct {
	databaseFlags
	Holder   string `arg:"" help:"Id of the customer or the beneficial owner." placeholder:"HOLDER"`
	Platform string `help:"Platform id, as printed by causeway platform list. Required if there are several platforms." placeholder:"PLATFORM"`
}

func (d documentsListCommand) Run(ctx context.Context, out io.Writer) error {
	holder, err := document.ParseHolder(d.Holder)
	if err != nil {
		return fmt.Errorf("HOLDER %w", err)
	}
	return d.withWritableDatabase(ctx, func(db *postgres.DB, _ ports.IDs) error {
		owner, err := resolvePlatform(ctx, db, d.Platform)
		if err != nil {
			return err
		}
		found, err := db.DocumentsOf(ctx, owner, holder)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			_, err := fmt.Fprintln(out, "There are no such documents.")
			return err
		}
		rows := table{rightAligned: []int{5}}
		for _, one := range found {
			submitted, state := "-", "current"
			if !one.SubmittedAt.IsZero() {
				submitted = one.SubmittedAt.Format(time.RFC3339)
			}
			if !one.SupersededBy.IsZero() {
				state = "replaced"
			}
			rows.add(one.ID.String(), string(one.Type), string(one.Side), one.Country, string(one.File.ContentType), strconv.FormatInt(one.File.Size, 10), one.UpdatedAt.Format(time.RFC3339), submitted, state)
		}
		return rows.write(out, "document", "type", "side", "country", "file", "bytes", "uploaded", "submitted", "state")
	})
}

type documentsShowCommand struct {
	databaseFlags
	blobFlags
	Document string `arg:"" help:"Id of the document." placeholder:"DOCUMENT"`
	Output   string `required:"" help:"File to write. It must not exist." placeholder:"FILE"`
	Platform string `help:"Platform id, as printed by causeway platform list. Required if there are several platforms." placeholder:"PLATFORM"`
	actorFlag
}

// Run records the action before it reads anything of the document.
func (d documentsShowCommand) Run(ctx context.Context, out io.Writer) error {
	id, err := ident.ParseDocument(d.Document)
	if err != nil {
		return fmt.Errorf("DOCUMENT %w", err)
	}
	blobs := d.blobFlags
	if d.DatabaseURL == "" {
		blobs = blobs.inFolder(d.Data)
	}
	files, err := blobs.openFiles()
	if err != nil {
		return err
	}
	return d.withWritableDatabase(ctx, func(db *postgres.DB, idGenerator ports.IDs) error {
		owner, err := resolvePlatform(ctx, db, d.Platform)
		if err != nil {
			return err
		}
		action, err := d.action(platform.OperatorOpenedDocument, owner, id.String())
		if err != nil {
			return err
		}
		if err := db.RecordOperatorAction(ctx, action); err != nil {
			return err
		}
		service := customers.New(customers.Config{Store: db, Clock: systemClock{}, IDs: idGenerator, Jobs: db})
		documents := customers.NewDocuments(service, customers.DocumentsConfig{Files: files, Check: documentfiles.New(1)})
		found, file, err := documents.Open(ctx, owner, id)
		if err != nil {
			return err
		}
		defer file.Close()
		if err := createPrivateFile(d.Output, file); err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "%s of %s, %s: %s, %d bytes, written to %s\nNumber %s, issued by %s, %s. Delete the file when you have seen it.\n",
			found.Type, found.Holder, found.ID, found.File.ContentType, found.File.Size, d.Output, orDash(found.Number), orDash(found.IssuingAuthority), found.Country)
		return err
	})
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// createPrivateFile writes a new file that only its owner can read, and leaves none after an error.
func createPrivateFile(path string, content io.Reader) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	_, err = io.Copy(file, content)
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
