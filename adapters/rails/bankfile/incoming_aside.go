package bankfile

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"causeway/adapters/rails/bankfile/transport"
	"causeway/core/bankorder"
	"causeway/core/plaintext"
	"causeway/ports"
)

const (
	// maxKept is how much of a file is kept aside, from its beginning. The file itself stays where it is.
	maxKept = 64 << 10
	// maxCleanText bounds texts of a bank, in bytes.
	maxCleanText = 2000
)

func clean(text string) string { return plaintext.Clean(text, maxCleanText) }

// unreadableFile is the error for a file of which nothing, or nothing more, can be used.
type unreadableFile struct {
	raw    ports.RawReport
	number int64
}

func (e *unreadableFile) Error() string { return e.raw.Place + ": " + e.raw.Problem }

// giveUp ends the reading of a file of which nothing can be used, or nothing more. The error is returned to the caller of
// readFiles, which passes the file on to be kept aside.
func (a *Adapter) giveUp(r *reading, problem string) error {
	problem = clean(problem)
	raw := ports.RawReport{Kind: ports.RailFeedFile, Key: fmt.Sprintf("sha256:%x", r.file.SHA256), Place: a.placeOf(r.file.Name),
		Problem: problem,
		Data:    r.beginning(), Size: r.file.Size, SHA256: fmt.Sprintf("%x", r.file.SHA256)}
	if a.problems[r.file.Number] = problem; r.copy != nil {
		a.givenUp[raw.Key] = problem
	}
	a.closeReading()
	return &unreadableFile{raw, r.file.Number}
}

// placeOf returns where a file of the bank is, for operators.
func (a *Adapter) placeOf(name string) string {
	return path.Join(a.settings.incoming, storedName(name))
}

// beginning returns what is kept of a file; nothing if it is gone.
func (r *reading) beginning() []byte {
	if r.copy == nil {
		return nil
	}
	data, err := io.ReadAll(io.NewSectionReader(r.copy, 0, min(r.copied, maxKept)))
	if err != nil {
		return nil // of our own copy; the file itself stays
	}
	return data
}

// unopened returns a file that is not read. It is known by its name, size and time, as its content is not.
func (a *Adapter) unopened(f transport.File, problem string) ports.RawReport {
	return ports.RawReport{Kind: ports.RailFeedFile, Key: unopenedKey(f), Place: a.placeOf(f.Name), Problem: clean(problem), Size: f.Size}
}

// closedProblem is the problem of a file that the service may not open.
func closedProblem(err error) string {
	return fmt.Sprintf("%v: let the service open the file, or ask the bank to", err)
}

// rawUnopened returns a file that is not read, with its beginning.
func (a *Adapter) rawUnopened(ctx context.Context, f transport.File, problem string) ports.RawReport {
	raw := a.unopened(f, problem)
	if name, err := transport.Join(a.settings.incoming, f.Name); err == nil {
		var start bytes.Buffer
		if err := a.transport.Read(ctx, name, &start, maxKept); err != nil && !errors.Is(err, transport.ErrTooLarge) {
			a.log.WithField("file", raw.Place).WithError(err).Warn("cannot keep the beginning of a file of the bank")
		}
		raw.Data = start.Bytes()
	}
	return raw
}

func unopenedKey(f transport.File) string {
	return fmt.Sprintf("%s/%d/%d", storedName(f.Name), f.Size, f.ModifiedAt.UnixMicro())
}

// ReadRaw implements ports.RawReportReader: a file that can be read now is read by the next Poll. What this process has given
// up is not tried again, because neither the program nor the settings have changed since.
func (a *Adapter) ReadRaw(ctx context.Context, raw ports.RawReport) (ports.RailReport, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	ctx, cancel := context.WithTimeout(ports.ForAllPlatforms(ctx), pollTimeout)
	defer cancel()
	lease, held, err := a.lease(ctx)
	if err != nil {
		return ports.RailReport{}, err
	}
	if !held {
		return ports.RailReport{}, errors.New("another process reads the files of the bank at present")
	}
	return ports.RailReport{}, a.readAgain(ctx, lease, raw)
}

// errGone is the problem of a file that can be read no more.
var errGone = errors.New("it is no longer in the folder: ask the bank for it again, or discard the report if its content was booked " +
	"otherwise")

// readAgain lets the next Poll read a file, if it can be read.
func (a *Adapter) readAgain(ctx context.Context, lease ports.Lease, raw ports.RawReport) error {
	content, err := hex.DecodeString(raw.SHA256)
	if err != nil {
		return err
	}
	if read, err := a.wasRead(ctx, raw, content); err != nil || read {
		return err
	}
	if problem, known := a.givenUp[raw.Key]; known {
		return errors.New(problem)
	}
	files, err := a.listIncoming(ctx)
	if err != nil {
		return err
	}
	for _, f := range files {
		if a.placeOf(f.Name) != raw.Place || f.Size != raw.Size {
			continue
		}
		if problem := a.unusable(f); problem != "" {
			return errors.New(problem)
		}
		if raw.SHA256 == "" {
			err = a.checkOpens(ctx, f)
		} else if err = a.checkAgain(ctx, f, raw); err == nil {
			err = a.store.ReopenFile(ctx, lease, content)
		}
		if err != nil {
			return err
		}
		delete(a.seen, f.Name)
		return nil
	}
	return errGone
}

// wasRead reports whether a file was read meanwhile, also under another name, or is being read.
func (a *Adapter) wasRead(ctx context.Context, raw ports.RawReport, content []byte) (bool, error) {
	if len(content) > 0 {
		state, known, err := a.store.FileWithContent(ctx, a.connection.Name, content)
		return known && state != bankorder.Unreadable, err
	}
	var file bankorder.Received
	var modified int64
	parts := strings.Split(raw.Key, "/")
	if n := len(parts) - 2; n > 0 {
		file.Name = strings.Join(parts[:n], "/")
		if _, err := fmt.Sscan(parts[n]+" "+parts[n+1], &file.Size, &modified); err != nil {
			return false, fmt.Errorf("key %q of a file: %w", raw.Key, err)
		}
	}
	file.ModifiedAt = time.UnixMicro(modified).UTC()
	known, err := a.store.KnownFiles(ctx, a.connection.Name, []bankorder.Received{file})
	return len(known) > 0 && known[0].State != bankorder.Unreadable, err
}

// checkOpens returns why a file cannot be opened.
func (a *Adapter) checkOpens(ctx context.Context, f transport.File) error {
	name, err := transport.Join(a.settings.incoming, f.Name)
	if err == nil {
		err = a.transport.Read(ctx, name, io.Discard, 1)
	}
	switch {
	case errors.Is(err, transport.ErrTooLarge):
		return nil
	case errors.Is(err, fs.ErrPermission):
		return errors.New(clean(closedProblem(err)))
	}
	return err
}

// checkAgain returns what is wrong with a file. One that takes longer than a poll is read by the polls.
func (a *Adapter) checkAgain(ctx context.Context, f transport.File, raw ports.RawReport) error {
	r, err := a.newReading(f, a.receivedOf(f))
	if err != nil {
		return err
	}
	defer r.close()
	if err := a.transport.Read(ctx, r.path, &spoolWriter{r}, f.Size); err != nil {
		return fmt.Errorf("read %s: %w", raw.Place, err)
	}
	if fmt.Sprintf("%x", r.digest.Sum(nil)) != raw.SHA256 {
		return errGone
	}
	_, err = r.check(time.Now().Add(a.readTime))
	if problem := problemOf(err); problem != "" {
		a.givenUp[raw.Key] = clean(problem)
		return errors.New(a.givenUp[raw.Key])
	}
	return err
}
