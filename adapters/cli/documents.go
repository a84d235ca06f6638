package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/google/uuid"

	"causeway/adapters/cli/table"
	"causeway/core/document"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// DocumentsCommand is about the documents of customers.
type DocumentsCommand struct {
	List documentsListCommand `cmd:"" help:"Print the documents of a customer or a beneficial owner, with the files that were submitted for verification and then replaced."`
	Show documentsShowCommand `cmd:"" help:"Write the file of a document, decrypted, to a file that only you can read. Who opened it is recorded."`
}

type documentsListCommand struct {
	tableFlags
	Holder string `arg:"" help:"Id of the customer or the beneficial owner." placeholder:"HOLDER"`
}

func (d documentsListCommand) Run(ctx context.Context, env *Env) error {
	holder, err := document.ParseHolder(d.Holder)
	return d.show(ctx, env, AsRequest, argumentError("HOLDER", err), func(services Services, p ident.Platform) (*table.Page, error) {
		documents, err := services.Documents(BlobFlags{})
		if err != nil {
			return nil, err
		}
		read := func(paging ports.Paging) (ports.Page[document.Document], error) {
			return documents.List(ctx, p, ports.DocumentFilter{Paging: paging, Holder: holder, IncludeReplaced: true})
		}
		rows := table.New("document", "type", "side", "country", "file|content_type", ">bytes", "uploaded", "submitted", "state")
		paging := ports.Paging{Limit: 100, Ascending: true}
		for one, err := range ports.All(paging, read, func(d document.Document) uuid.UUID { return d.ID.UUID() }) {
			if err != nil {
				return nil, err
			}
			state := "current"
			if !one.SupersededBy.IsZero() {
				state = "replaced"
			}
			rows.Add(one.ID, one.Type, one.Side, one.Country, one.File.ContentType, one.File.Size, one.UpdatedAt, one.SubmittedAt, state)
		}
		page := new(table.Page)
		page.Table("", rows, "There are no such documents.")
		return page, nil
	})
}

type documentsShowCommand struct {
	platformFlags
	BlobFlags
	Document string `arg:"" help:"Id of the document." placeholder:"DOCUMENT"`
	File     string `required:"" help:"File to write. It must not exist." placeholder:"FILE"`
	actorFlag
}

// Run records the action before it reads anything of the document.
func (d documentsShowCommand) Run(ctx context.Context, env *Env) error {
	id, err := ident.ParseDocument(d.Document)
	if err != nil {
		return fmt.Errorf("DOCUMENT %w", err)
	}
	blobs := d.BlobFlags
	if d.DatabaseURL == "" {
		blobs = blobs.InFolder(d.Data)
	}
	return d.on(ctx, env, AsRequest, func(services Services, p ident.Platform) error {
		documents, err := services.Documents(blobs)
		if err != nil {
			return err
		}
		if err := d.record(ctx, env, services, platform.OperatorOpenedDocument, p, id.String(), uuid.Nil); err != nil {
			return err
		}
		found, file, err := documents.Open(ctx, p, id)
		if err != nil {
			return err
		}
		defer file.Close()
		err = createPrivateFile(d.File, file)
		return env.say(err, "%s of %s, %s: %s, %d bytes, written to %s\n"+
			"Number %s, issued by %s, %s. Delete the file when you have seen it.\n",
			found.Type, found.Holder, found.ID, found.File.ContentType, found.File.Size, d.File,
			cmp.Or(found.Number, "-"), cmp.Or(found.IssuingAuthority, "-"), found.Country)
	})
}

// createPrivateFile writes a new file that only its owner can read, and leaves none after an error.
func createPrivateFile(path string, content io.Reader) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("--file: %w", err)
	}
	_, err = io.Copy(file, content)
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
