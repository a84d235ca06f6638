package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
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
	Format   string `required:"" help:"csv, hledger, ledger, beancount or camt053; or log or evidence, the content of the log of postings or of the log of evidence, for verify." placeholder:"FORMAT"`
	Output   string `help:"Output file, created only when the export is complete. Default, or with -: standard output." type:"path" placeholder:"FILE"`
	Platform string `help:"Platform id. Required if there are several platforms." placeholder:"ID"`
	AsOf     string `help:"Postings recorded up to this time, inclusive, such as 2026-03-31T23:59:59Z. Default: now." placeholder:"TIME"`
	From     string `help:"Postings effective at or after this time." placeholder:"TIME"`
	To       string `help:"Postings effective before this time." placeholder:"TIME"`
	Account  string `help:"Only postings to the account with this path, such as rails/ACH." placeholder:"PATH"`
	Currency string `help:"Only this currency." placeholder:"CODE"`
	Names    bool   `help:"Add the present names of customers to their accounts. Needs CAUSEWAY_MASTER_KEY if they are encrypted."`
	Size     int64  `help:"With --format log or evidence: number of leaves to export, such as the size of a checkpoint. Default: all." placeholder:"NUMBER"`
	companyFlags
}

// exportFunc writes an export and reports its progress.
type exportFunc func(ctx context.Context, out io.Writer, progress func(done, total int64)) error

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
		export := l.exportLedger(db, platform, request)
		switch l.Format {
		case formatLog:
			export = func(ctx context.Context, out io.Writer, progress func(done, total int64)) error {
				_, err := newAudit(db).ExportLog(ctx, platform, l.Size, out, progress)
				return err
			}
		case formatEvidence:
			export = func(ctx context.Context, out io.Writer, _ func(done, total int64)) error {
				_, err := newAudit(db).ExportEvidence(ctx, platform, l.Size, out)
				return err
			}
		}
		if l.Output == "" || l.Output == "-" {
			return flagErrors(export(ctx, out, nil))
		}
		var size int64
		replaced, err := writeOutput(l.Output, func(file io.Writer) error {
			counter := &countingWriter{out: file}
			progress := newProgress(os.Stderr, "postings")
			defer progress.finish()
			err := export(ctx, counter, progress.update)
			size = counter.written
			return err
		})
		if err != nil || !replaced {
			return flagErrors(err)
		}
		_, err = fmt.Fprintf(out, "%s: %d bytes, ledger of %s\n", l.Output, size, platform)
		return err
	})
}

// The formats that verify reads.
const (
	formatLog      = "log"
	formatEvidence = "evidence"
)

// isLog reports whether the export is one of a log.
func (l ledgerExportCommand) isLog() bool { return l.Format == formatLog || l.Format == formatEvidence }

func (l ledgerExportCommand) exportLedger(db *postgres.DB, platform ident.Platform, request exports.Request) exportFunc {
	return func(ctx context.Context, out io.Writer, progress func(done, total int64)) error {
		document, err := exports.New(exports.Config{Views: db.LedgerViews(), Store: db, Clock: systemClock{}, Company: l.company(), Progress: progress}).Export(platform, request)
		if err != nil {
			return withLogFormat(err)
		}
		return document.Write(ctx, out)
	}
}

// withLogFormat adds the logs, which only the command exports, to the formats that an error lists.
func withLogFormat(err error) error {
	invalid, ok := fault.As(err)
	if !ok || len(invalid.Fields) == 0 {
		return err
	}
	fields := slices.Clone(invalid.Fields)
	for i := range fields {
		if fields[i].Field == "format" {
			fields[i].Message += ", " + formatLog + ", " + formatEvidence
		}
	}
	return fault.Invalid(fields...)
}

// parseRequest parses the flags and reports all invalid ones.
func (l ledgerExportCommand) parseRequest() (exports.Request, error) {
	r := exports.Request{Format: exports.Format(l.Format), LedgerFilter: ports.LedgerFilter{Path: l.Account, Currency: money.Currency(l.Currency)}, Names: l.Names}
	var errs []error
	l.checkCompany(func(setting, must string, got any) {
		errs = append(errs, fmt.Errorf("%s must be %s, not %v", setting, must, got))
	})
	if l.Size != 0 && !l.isLog() {
		errs = append(errs, errors.New("--size is only valid with --format log or evidence"))
	}
	if l.isLog() && (l.AsOf != "" || l.From != "" || l.To != "" || l.Account != "" || l.Currency != "" || l.Names) {
		errs = append(errs, fmt.Errorf("--format %s cannot be combined with --as-of, --from, --to, --account, --currency or --names: only a complete log can be verified; use --size", l.Format))
	}
	for _, flag := range []struct {
		name, text string
		target     *time.Time
	}{{"--as-of", l.AsOf, &r.AsOf}, {"--from", l.From, &r.From}, {"--to", l.To, &r.To}} {
		if flag.text == "" {
			continue
		}
		t, err := time.Parse(time.RFC3339, flag.text)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s must be an RFC 3339 timestamp, such as 2026-03-31T23:59:59Z, not %q", flag.name, flag.text))
		}
		*flag.target = t.UTC()
	}
	return r, errors.Join(errs...)
}

// flagErrors turns field errors into errors that name the flags.
func flagErrors(err error) error {
	f, ok := fault.As(err)
	if !ok || len(f.Fields) == 0 {
		return err
	}
	var errs []error
	for _, field := range f.Fields {
		errs = append(errs, fmt.Errorf("--%s %s", strings.Replace(field.Field, "asOf", "as-of", 1), field.Message))
	}
	return errors.Join(errs...)
}

// resolvePlatform parses a platform id and checks that the platform exists. Without an id it
// returns the only platform.
func resolvePlatform(ctx context.Context, db *postgres.DB, text string) (ident.Platform, error) {
	if text != "" {
		id, err := ident.ParsePlatform(text)
		if err != nil {
			return id, fmt.Errorf("--platform: %w", err)
		}
		if _, err := db.Platform(ctx, id); err != nil {
			return id, fmt.Errorf("--platform: %s does not exist", id)
		}
		return id, nil
	}
	ids, err := db.PlatformIDs(ctx, 2)
	switch {
	case err != nil:
		return ident.Platform{}, err
	case len(ids) == 0:
		return ident.Platform{}, errors.New("no platform exists yet")
	case len(ids) > 1:
		return ident.Platform{}, errors.New("several platforms exist; set --platform")
	}
	return ids[0], nil
}

// writeOutput writes to path and reports whether path is a regular file, which it replaces
// atomically. It follows a symbolic link and replaces its target. It writes directly into a
// terminal, pipe or device.
func writeOutput(path string, write func(io.Writer) error) (file bool, err error) {
	info, err := os.Stat(path)
	switch {
	case err != nil: // usually the file does not exist yet
	case info.IsDir():
		return false, fmt.Errorf("--output: %s is a folder; specify a file", path)
	case !info.Mode().IsRegular():
		device, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return false, fmt.Errorf("--output: %w", err)
		}
		return false, errors.Join(write(device), device.Close())
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	return true, writeFileAtomically(path, write)
}

// writeFileAtomically writes a temporary file in the same folder and renames it when it is
// complete, so that an existing file is replaced only on success.
func writeFileAtomically(path string, write func(io.Writer) error) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".part-*") // mode 0600
	if err != nil {
		var pathErr *os.PathError
		if errors.As(err, &pathErr) {
			err = fmt.Errorf("cannot create a file in %s: %w", filepath.Dir(path), pathErr.Err)
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
