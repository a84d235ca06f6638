package bankfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"causeway/adapters/rails/bankfile/transport"
	"causeway/core/bankorder"
)

const (
	// maxKnown is how many files are looked up at once.
	maxKnown = 1000
	// retryFileAfter is when to try a file again that could not be read or moved.
	retryFileAfter = time.Minute
	// maxPutAway is how many files that were read before are moved in one poll.
	maxPutAway = 100
	maxName    = 255
)

// sighting is what is remembered of a file of the folder.
type sighting struct {
	file    transport.File
	since   time.Time // when it was first seen as it is
	retryAt time.Time
	done    bool // it was read, or cannot be
}

// fileKey identifies a file of the bank before its content is known.
type fileKey struct {
	name     string
	size     int64
	modified int64
}

func keyOf(r bankorder.Received) fileKey { return fileKey{r.Name, r.Size, r.ModifiedAt.UnixMicro()} }

// receivedOf returns a file as it is stored: times are stored in microseconds, and names as text.
func (a *Adapter) receivedOf(f transport.File) bankorder.Received {
	return bankorder.Received{Connection: a.connection.Name, Name: storedName(f.Name), Size: f.Size,
		ModifiedAt: f.ModifiedAt.UTC().Truncate(time.Microsecond)}
}

// storedName returns a name as text that can be stored and shown: one that is not is quoted.
func storedName(name string) string {
	if utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return name
	}
	return strconv.QuoteToASCII(name)
}

// listIncoming lists the files of the bank, without those that are not complete by their names.
func (a *Adapter) listIncoming(ctx context.Context) ([]transport.File, error) {
	files, err := a.transport.List(ctx, a.settings.incoming, maxFolderFiles)
	if err != nil {
		return nil, fmt.Errorf("folder %s: %w", a.settings.incoming, err)
	}
	if len(files) == maxFolderFiles {
		a.log.WithField("folder", a.settings.incoming).Errorf("the folder has %d files or more, and those after them are not read: remove "+
			"some, or let read files be archived", maxFolderFiles)
	}
	return slices.DeleteFunc(files, func(f transport.File) bool {
		return slices.ContainsFunc(a.settings.ignored,
			func(suffix string) bool { return strings.HasSuffix(strings.ToLower(f.Name), strings.ToLower(suffix)) })
	}), nil
}

// nextFile returns the oldest file that has not been read and is complete; nil if there is none.
func (a *Adapter) nextFile(ctx context.Context) (*reading, error) {
	files, err := a.listIncoming(ctx)
	if err != nil {
		return nil, err
	}
	waiting := a.look(ctx, files)
	slices.SortFunc(waiting, func(x, y transport.File) int {
		return cmp.Or(x.ModifiedAt.Compare(y.ModifiedAt), strings.Compare(x.Name, y.Name))
	})
	putAway := 0
	for chunk := range slices.Chunk(waiting, maxKnown) {
		known, err := a.knownFiles(ctx, chunk)
		if err != nil {
			return nil, err
		}
		for _, f := range chunk {
			file, found := known[keyOf(a.receivedOf(f))]
			switch {
			case !found:
				file = a.receivedOf(f)
			case file.State == bankorder.Unreadable: // unless an operator lets it be read again
				a.postpone(f.Name)
				continue
			case file.State != bankorder.Reading:
				if putAway++; putAway <= maxPutAway {
					a.putAway(ctx, f, file.Number)
				}
				continue
			}
			a.reading, err = a.newReading(f, file)
			return a.reading, err
		}
	}
	return nil, nil
}

// look remembers the files of the folder, and returns those to be read: they have not changed for some time.
func (a *Adapter) look(ctx context.Context, files []transport.File) []transport.File {
	now := a.clock.Now()
	listed := make(map[string]bool, len(files))
	var waiting []transport.File
	for _, f := range files {
		listed[f.Name] = true
		s, seen := a.seen[f.Name]
		if !seen || s.file != f {
			s = sighting{file: f, since: now}
			a.seen[f.Name] = s
		}
		if s.done || now.Before(s.retryAt) || now.Before(s.since.Add(a.settings.stableFor)) {
			continue
		}
		if problem := a.unusable(f); problem != "" {
			a.aside = append(a.aside, a.rawUnopened(ctx, f, problem))
			a.postpone(f.Name) // it is reported again then, in case it was not stored
			continue
		}
		waiting = append(waiting, f)
	}
	for name := range a.seen {
		if !listed[name] {
			delete(a.seen, name)
		}
	}
	return waiting
}

// unusable returns why a file is not even opened.
func (a *Adapter) unusable(f transport.File) string {
	_, err := transport.Join(a.settings.incoming, f.Name)
	switch {
	case err != nil || len(f.Name) > maxName:
		return "its name is not that of a file: ask the bank to rename it"
	case f.Size > a.settings.maxFileBytes:
		return fmt.Sprintf("it has %d bytes, and maxFileBytes is %d: ask the bank for several files, or raise the setting", f.Size,
			a.settings.maxFileBytes)
	}
	return ""
}

func (a *Adapter) knownFiles(ctx context.Context, files []transport.File) (map[fileKey]bankorder.Received, error) {
	asked := make([]bankorder.Received, len(files))
	for i, f := range files {
		asked[i] = a.receivedOf(f)
	}
	found, err := a.store.KnownFiles(ctx, a.connection.Name, asked)
	known := make(map[fileKey]bankorder.Received, len(found))
	for _, r := range found {
		known[keyOf(r)] = r
	}
	return known, err
}

// finished has a file left alone until it changes.
func (a *Adapter) finished(name string) {
	if s, seen := a.seen[name]; seen {
		s.done = true
		a.seen[name] = s
	}
}

func (a *Adapter) postpone(name string) {
	if s, seen := a.seen[name]; seen {
		s.retryAt = a.clock.Now().Add(retryFileAfter)
		a.seen[name] = s
	}
}

// putAway moves a file that was read to the archive. What cannot be moved is left, and tried again.
func (a *Adapter) putAway(ctx context.Context, f transport.File, number int64) {
	if a.settings.archive == none {
		a.finished(f.Name)
		return
	}
	err := a.archive(ctx, f.Name, number)
	if err == nil || errors.Is(err, fs.ErrNotExist) && a.isGone(ctx, f.Name) {
		delete(a.seen, f.Name)
		return
	}
	a.log.WithField("file", storedName(f.Name)).WithError(err).Warn("cannot move a file that was read to the archive; will retry")
	a.postpone(f.Name)
}

// isGone reports whether a file was moved before, by us or by the bank.
func (a *Adapter) isGone(ctx context.Context, name string) bool {
	from, err := transport.Join(a.settings.incoming, name)
	if err == nil {
		_, err = a.transport.Stat(ctx, from)
	}
	return errors.Is(err, fs.ErrNotExist)
}

// archive moves a file. If the archive has one with its name, its number is added.
func (a *Adapter) archive(ctx context.Context, name string, number int64) error {
	from, err := transport.Join(a.settings.incoming, name)
	if err != nil {
		return err
	}
	to, err := transport.Join(a.settings.archive, name)
	if err != nil {
		return err
	}
	if err = a.transport.Rename(ctx, from, to); errors.Is(err, fs.ErrExist) {
		return a.transport.Rename(ctx, from, fmt.Sprintf("%s.%d", to, number))
	}
	return err
}
