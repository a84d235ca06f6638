package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"causeway/app/exports"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ports"
)

type ledgerExportCommand struct {
	platformFlags
	Format   string `required:"" help:"csv, hledger, ledger, beancount or camt053; or log or evidence, the content of the log of postings or of the log of evidence, for verify." placeholder:"FORMAT"`
	File     string `help:"File to write, created only when the export is complete. Default, or with -: standard output." type:"path" placeholder:"FILE"`
	AsOf     string `help:"Postings recorded up to this time, inclusive, such as 2026-03-31T23:59:59Z. Default: now." placeholder:"TIME"`
	From     string `help:"Postings effective at or after this time." placeholder:"TIME"`
	To       string `help:"Postings effective before this time." placeholder:"TIME"`
	Account  string `help:"Only postings to the account with this path, such as rails/ACH." placeholder:"PATH"`
	Currency string `help:"Only this currency." placeholder:"CODE"`
	Names    bool   `help:"Add the present names of customers to their accounts. Needs CAUSEWAY_MASTER_KEY if they are encrypted."`
	Size     int64  `help:"With --format log or evidence: number of leaves to export, such as the size of a checkpoint. Default: all." placeholder:"NUMBER"`
	CompanyFlags
}

func (l ledgerExportCommand) Run(ctx context.Context, env *Env) error {
	request, err := l.parseRequest()
	if err != nil {
		return err
	}
	return l.on(ctx, env, OnBooks, func(services Services, p ident.Platform) error {
		if l.File == "" || l.File == "-" {
			return flagErrors(l.export(ctx, env.Out, services, p, request, nil))
		}
		var size int64
		replaced, err := writeOutput(l.File, func(file io.Writer) error {
			counter := &countingWriter{out: file}
			progress := newProgress(env.ErrOut, "postings")
			defer progress.finish()
			err := l.export(ctx, counter, services, p, request, progress.update)
			size = counter.written
			return err
		})
		if err != nil || !replaced {
			return flagErrors(err)
		}
		return env.say(nil, "%s: %d bytes, ledger of %s\n", l.File, size, p)
	})
}

// The formats that verify reads.
const (
	formatLog      = "log"
	formatEvidence = "evidence"
)

// isLog reports whether the export is one of a log.
func (l ledgerExportCommand) isLog() bool { return l.Format == formatLog || l.Format == formatEvidence }

// export writes the ledger or a log, and reports its progress.
func (l ledgerExportCommand) export(ctx context.Context, out io.Writer, services Services, p ident.Platform, request exports.Request,
	progress func(done, total int64)) error {
	switch l.Format {
	case formatLog:
		_, err := services.Audit().ExportLog(ctx, p, l.Size, out, progress)
		return err
	case formatEvidence:
		_, err := services.Audit().ExportEvidence(ctx, p, l.Size, out)
		return err
	}
	document, err := services.Exports(l.Company(), progress).Export(p, request)
	if err != nil {
		return withLogFormat(err)
	}
	return document.Write(ctx, out)
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
	r := exports.Request{Format: exports.Format(l.Format), Names: l.Names,
		LedgerFilter: ports.LedgerFilter{Path: l.Account, Currency: money.Currency(l.Currency)}}
	var errs []error
	l.CheckCompany(func(setting, must string, got any) {
		errs = append(errs, fmt.Errorf("%s must be %s, not %v", setting, must, got))
	})
	if l.Size != 0 && !l.isLog() {
		errs = append(errs, errors.New("--size is only valid with --format log or evidence"))
	}
	if l.isLog() && (l.AsOf != "" || l.From != "" || l.To != "" || l.Account != "" || l.Currency != "" || l.Names) {
		errs = append(errs,
			fmt.Errorf("--format %s cannot be combined with --as-of, --from, --to, --account, --currency or --names: only a complete log can be "+
				"verified; use --size", l.Format))
	}
	for _, flag := range []struct {
		name, text string
		target     *time.Time
	}{{"--as-of", l.AsOf, &r.AsOf}, {"--from", l.From, &r.From}, {"--to", l.To, &r.To}} {
		at, err := parseTime(flag.name, flag.text)
		*flag.target, errs = at, append(errs, err)
	}
	return r, errors.Join(errs...)
}

// writeOutput writes to path and reports whether path is a regular file, which it replaces
// atomically. It follows a symbolic link and replaces its target. It writes directly into a
// terminal, pipe or device.
func writeOutput(path string, write func(io.Writer) error) (file bool, err error) {
	info, err := os.Stat(path)
	switch {
	case err != nil: // usually the file does not exist yet
	case info.IsDir():
		return false, fmt.Errorf("--file: %s is a folder; specify a file", path)
	case !info.Mode().IsRegular():
		device, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return false, fmt.Errorf("--file: %w", err)
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
		return err
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
