package bankfile

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"causeway/adapters/rails/bankfile/transport"
	"causeway/core/bankorder"
	"causeway/ports"
)

// send delivers the files that were cut, and cuts and delivers those that are due, the oldest first.
func (a *Adapter) send(ctx context.Context, lease ports.Lease) (more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	for started := time.Now(); time.Since(started) < sendTime; {
		f, some, err := a.store.UndeliveredFile(ctx, a.connection.Name)
		if err == nil && !some {
			f, some, err = a.cut(ctx, lease)
		}
		if err != nil || !some {
			return false, err
		}
		if err := a.deliver(ctx, lease, f); err != nil {
			return false, fmt.Errorf("deliver file %s: %w", f.Name, err)
		}
	}
	return true, nil
}

// deliver gives the bank a file once. Its content is fixed when all of it is at the bank under a temporary name, which
// nobody else has used; only that upload is renamed, by whichever process comes to it, and a file can be renamed once. So a
// file whose temporary name is gone has been renamed.
func (a *Adapter) deliver(ctx context.Context, lease ports.Lease, f bankorder.File) (err error) {
	if f.State == bankorder.FileCreated {
		if f, err = a.upload(ctx, lease, f); err != nil {
			return err
		}
	}
	if err := a.publish(ctx, f); err != nil {
		return err
	}
	now := a.clock.Now()
	if err := a.store.FileDelivered(ctx, lease, f.Number, now, a.settlesAt(f.Rail, now)); err != nil {
		return err
	}
	a.log.WithField("file", f.Name).WithField("orders", f.Orders).Info("file delivered to the bank")
	return nil
}

// upload writes a file to the bank under a temporary name of its own.
func (a *Adapter) upload(ctx context.Context, lease ports.Lease, f bankorder.File) (bankorder.File, error) {
	attempt, err := a.store.BeginUpload(ctx, lease, f.Number)
	if err != nil {
		return f, err
	}
	if attempt > 1 {
		a.removeAbandoned(ctx, f, lease.Fence, attempt)
	}
	spool, err := newSpool()
	if err != nil {
		return f, err
	}
	defer spool.Close()
	digest := sha256.New()
	if err := a.write(io.MultiWriter(spool, digest), f, a.ordersOf(ctx, f), a.clock.Now()); err != nil {
		return f, err
	}
	if f.Size, err = spool.Seek(0, io.SeekCurrent); err != nil {
		return f, err
	}
	if _, err := spool.Seek(0, io.SeekStart); err != nil {
		return f, err
	}
	f.SHA256 = [sha256.Size]byte(digest.Sum(nil))
	f.TemporaryName = temporaryPrefix(f) + fmt.Sprintf("%d-%d", lease.Fence, attempt) + a.settings.temporarySuffix
	f.Place = a.settings.place()
	name, err := transport.Join(a.settings.temporary, f.TemporaryName)
	if err != nil {
		return f, err
	}
	size, err := a.transport.Create(ctx, name, spool)
	if err == nil && size != f.Size {
		err = fmt.Errorf("the bank has %d of %d bytes", size, f.Size)
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("it takes more than %s: use a faster line, and set maxPayments lower: %w", sendTimeout, err)
	}
	if err != nil {
		return f, fmt.Errorf("upload %s: %w", name, err)
	}
	return f, a.store.FileUploaded(ctx, lease, f)
}

// newSpool returns a file that has no name any more, so that nothing of it is left when the process ends.
func newSpool() (*os.File, error) {
	spool, err := os.CreateTemp("", "causeway-bank-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(spool.Name()); err != nil {
		return nil, errors.Join(err, spool.Close())
	}
	return spool, nil
}

func temporaryPrefix(f bankorder.File) string { return f.Name + "." }

// place names where files are uploaded.
func (s settings) place() string {
	if s.folder != "" {
		return path.Join(s.folder, s.temporary)
	}
	return "sftp://" + s.user + "@" + s.address + "/" + path.Join(s.base, s.temporary)
}

// removeAbandoned removes uploads of a file that were not finished. Those of a later lease stay: one of them may be the one
// that counts. What cannot be removed harms nobody.
func (a *Adapter) removeAbandoned(ctx context.Context, f bankorder.File, fence int64, attempt int) {
	files, err := a.transport.List(ctx, a.settings.temporary, maxFolderFiles)
	if err != nil {
		a.log.WithError(err).Warn("cannot look for uploads that were not finished")
		return
	}
	for _, file := range files {
		numbers, ours := strings.CutPrefix(strings.TrimSuffix(file.Name, a.settings.temporarySuffix), temporaryPrefix(f))
		first, second, both := strings.Cut(numbers, "-")
		ofFence, notFence := strconv.ParseInt(first, 10, 64)
		ofAttempt, notAttempt := strconv.Atoi(second)
		if !ours || !both || notFence != nil || notAttempt != nil || ofFence > fence || ofAttempt >= attempt {
			continue
		}
		name, err := transport.Join(a.settings.temporary, file.Name)
		if err == nil {
			err = a.transport.Remove(ctx, name)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			a.log.WithError(err).Warn("cannot remove an upload that was not finished")
		}
	}
}

// publish gives an upload its final name, by which the bank takes it, and a marker if the bank wants one.
func (a *Adapter) publish(ctx context.Context, f bankorder.File) error {
	temporary, err := transport.Join(a.settings.temporary, f.TemporaryName)
	if err != nil {
		return err
	}
	final, err := transport.Join(a.settings.outgoing, f.Name)
	if err != nil {
		return err
	}
	err = a.transport.Rename(ctx, temporary, final)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) {
		err = a.checkRenamed(ctx, f, temporary, final, err)
	}
	if err != nil || a.settings.markerSuffix == "" {
		return err
	}
	// A bank that has taken the file already needs no marker any more.
	if _, err := a.transport.Stat(ctx, final); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	if _, err := a.transport.Create(ctx, final+a.settings.markerSuffix, strings.NewReader("")); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// checkRenamed returns nil if an upload that cannot be renamed has been renamed before.
func (a *Adapter) checkRenamed(ctx context.Context, f bankorder.File, temporary, final string, failed error) error {
	_, err := a.transport.Stat(ctx, temporary)
	switch {
	case err == nil && errors.Is(failed, fs.ErrExist):
		return a.checkSame(ctx, f, temporary, final)
	case err == nil:
		return fmt.Errorf("%w: make the folder, or correct the setting outgoing", failed)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if f.Place != "" && f.Place != a.settings.place() {
		return fmt.Errorf("it was uploaded as %s to %s, which the settings no longer name: set that again until it is delivered, or move the "+
			"upload to %s if it is still there",
			f.TemporaryName, f.Place, a.settings.place())
	}
	// Without its folders, as on a file system that is not mounted, a file is missing that was not renamed.
	for _, folder := range []string{a.settings.temporary, a.settings.outgoing} {
		if _, err := a.transport.Stat(ctx, folder); err != nil {
			return fmt.Errorf("folder %s: %w", folder, err)
		}
	}
	return nil
}

// checkSame ends a rename that has left both names, as that of some servers does when it is interrupted. Another file with
// the final name is for an operator.
func (a *Adapter) checkSame(ctx context.Context, f bankorder.File, temporary, final string) error {
	digest := sha256.New()
	err := a.transport.Read(ctx, final, digest, f.Size)
	switch {
	case err != nil && !errors.Is(err, transport.ErrTooLarge):
		return err
	case err != nil || [sha256.Size]byte(digest.Sum(nil)) != f.SHA256:
		return fmt.Errorf("another file has the name %s: find out where it comes from, and move it away", final)
	}
	return a.transport.Remove(ctx, temporary)
}
