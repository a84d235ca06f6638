package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"causeway/adapters/postgres"
	"causeway/app/exports"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ports"
)

type ledgerExportCommand struct {
	databaseFlags
	Format   string `required:"" help:"csv, hledger, ledger, beancount or camt053; or log: what the ledger's log is made of, for verify." placeholder:"FORMAT"`
	Output   string `help:"File to write. It is there when the export is whole, and not before. Without it, or with -, standard output." type:"path" placeholder:"FILE"`
	Platform string `help:"Whose books. It can be left out while there is one platform." placeholder:"ID"`
	AsOf     string `help:"The books as recorded by the end of this moment, such as 2026-03-31T23:59:59Z. Without it, now." placeholder:"TIME"`
	From     string `help:"What took effect at this moment or later." placeholder:"TIME"`
	To       string `help:"What took effect before this moment." placeholder:"TIME"`
	Account  string `help:"Only what touches accounts at this path, such as rails/ACH." placeholder:"PATH"`
	Currency string `help:"Only what is in this currency." placeholder:"CODE"`
	Size     int64  `help:"Of the log: postings up to this number, such as the size of a head. Without it, all there are." placeholder:"NUMBER"`
}

// exportFunc writes an export, and tells how far it has come.
type exportFunc func(ctx context.Context, out io.Writer, progress func(done, of int64)) error

func (l ledgerExportCommand) Run(ctx context.Context, out io.Writer) error {
	request, err := l.parseRequest()
	if err != nil {
		return err
	}
	return l.withDatabase(ctx, func(db *postgres.DB) error {
		platform, err := resolvePlatform(ctx, db, l.Platform)
		if err != nil {
			return err
		}
		export := l.exportBooks(db, platform, request)
		if l.Format == formatLog {
			export = func(ctx context.Context, out io.Writer, progress func(done, of int64)) error {
				_, err := newAudit(db).ExportLog(ctx, platform, l.Size, out, progress)
				return err
			}
		}
		if l.Output == "" || l.Output == "-" {
			return flagErrors(export(ctx, out, nil))
		}
		var size int64
		replaced, err := writeOutput(l.Output, func(file io.Writer) error {
			counted := &countingWriter{out: file}
			progress := newProgress(os.Stderr, "postings")
			defer progress.finish()
			err := export(ctx, counted, progress.update)
			size = counted.written
			return err
		})
		if err != nil || !replaced {
			return flagErrors(err)
		}
		_, err = fmt.Fprintf(out, "%s: %d bytes, the books of %s\n", l.Output, size, platform)
		return err
	})
}

// formatLog is what verify reads.
const formatLog = "log"

func (l ledgerExportCommand) exportBooks(db *postgres.DB, platform ident.Platform, request exports.Request) exportFunc {
	return func(ctx context.Context, out io.Writer, progress func(done, of int64)) error {
		document, err := exports.New(exports.Config{Views: db.LedgerViews(), Clock: systemClock{}, Progress: progress}).ExportForPlatform(platform, request)
		if err != nil {
			return err
		}
		return document.Write(ctx, out)
	}
}

// parseRequest reads the flags and finds everything that is wrong with them.
func (l ledgerExportCommand) parseRequest() (exports.Request, error) {
	r := exports.Request{Format: exports.Format(l.Format), LedgerFilter: ports.LedgerFilter{Path: l.Account, Currency: money.Currency(l.Currency)}}
	var wrong []error
	if l.Size != 0 && l.Format != formatLog {
		wrong = append(wrong, errors.New("--size is for --format log; leave it out"))
	}
	if l.Format == formatLog && (l.AsOf != "" || l.From != "" || l.To != "" || l.Account != "" || l.Currency != "") {
		wrong = append(wrong, errors.New("--format log takes --size and none of --as-of, --from, --to, --account and --currency: a part of the log proves nothing"))
	}
	for _, moment := range []struct {
		flag, text string
		into       *time.Time
	}{{"--as-of", l.AsOf, &r.AsOf}, {"--from", l.From, &r.From}, {"--to", l.To, &r.To}} {
		if moment.text == "" {
			continue
		}
		t, err := time.Parse(time.RFC3339, moment.text)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s must be a moment such as 2026-03-31T23:59:59Z, not %q", moment.flag, moment.text))
		}
		*moment.into = t.UTC()
	}
	return r, errors.Join(wrong...)
}

// flagErrors says of each bad field what the flag is called.
func flagErrors(err error) error {
	f, ok := fault.As(err)
	if !ok || len(f.Fields) == 0 {
		return err
	}
	var wrong []error
	for _, field := range f.Fields {
		wrong = append(wrong, fmt.Errorf("--%s %s", strings.Replace(field.Field, "asOf", "as-of", 1), field.Message))
	}
	return errors.Join(wrong...)
}

// resolvePlatform reads the id of a platform; without one it is the only one there is.
func resolvePlatform(ctx context.Context, db *postgres.DB, text string) (ident.Platform, error) {
	if text != "" {
		id, err := ident.ParsePlatform(text)
		if err != nil {
			return id, fmt.Errorf("--platform: %w", err)
		}
		if _, err := db.Platform(ctx, id); err != nil {
			return id, fmt.Errorf("--platform: there is no %s", id)
		}
		return id, nil
	}
	ids, err := db.PlatformIDs(ctx, 2)
	switch {
	case err != nil:
		return ident.Platform{}, err
	case len(ids) == 0:
		return ident.Platform{}, errors.New("there is no platform yet, and so there are no books")
	case len(ids) > 1:
		return ident.Platform{}, errors.New("there are several platforms: name one with --platform")
	}
	return ids[0], nil
}

// writeOutput writes what an export is to be put into, and tells whether that is a file. A
// link stays, and the file that it leads to is replaced. A terminal, a pipe or a device
// stays as well: it is written into.
func writeOutput(path string, write func(io.Writer) error) (file bool, err error) {
	info, err := os.Stat(path)
	switch {
	case err != nil: // most often it is not there yet
	case info.IsDir():
		return false, fmt.Errorf("--output: %s is a folder; name a file in it", path)
	case !info.Mode().IsRegular():
		into, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return false, fmt.Errorf("--output: %w", err)
		}
		return false, errors.Join(write(into), into.Close())
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return true, writeFileAtomically(path, write)
}

// writeFileAtomically writes a file beside its place and puts it there when it is whole. A file
// that was there stays until then.
func writeFileAtomically(path string, write func(io.Writer) error) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".part-*") // mode 0600
	if err != nil {
		var refused *os.PathError
		if errors.As(err, &refused) {
			err = fmt.Errorf("no file can be made in %s: %w", filepath.Dir(path), refused.Err)
		}
		return fmt.Errorf("--output: %w", err)
	}
	buffered := bufio.NewWriterSize(temporary, 256<<10)
	if err = write(buffered); err == nil {
		err = buffered.Flush()
	}
	if err == nil {
		err = temporary.Sync()
	}
	err = errors.Join(err, temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temporary.Name())
	}
	return err
}

type countingWriter struct {
	out     io.Writer
	written int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.out.Write(p)
	c.written += int64(n)
	return n, err
}
