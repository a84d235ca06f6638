package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// fullFile returns a file on a full disk, in place of one with a name in a folder.
func fullFile(t *testing.T, folder string) (*os.File, error) {
	t.Helper()
	named, err := os.CreateTemp(folder, "pack-*")
	if err != nil {
		return nil, err
	}
	defer func() { _ = named.Close() }()
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = full.Close() }()
	copied, err := syscall.Dup(int(full.Fd()))
	return os.NewFile(uintptr(copied), named.Name()), err
}

func TestPackFolder_FullDisk(t *testing.T) {
	t.Parallel()
	// When the disk becomes full, whether while a file is written or when its rest is, the file is named with the reason, and nothing is left.
	for _, size := range []int{1, 1 << 20} {
		folder := t.TempDir()
		files := newPackFiles()
		files.createTemp = func(string, string) (*os.File, error) { return fullFile(t, folder) }

		err := files.files(packFile{"year.csv", func(out io.Writer) error {
			_, err := io.Copy(out, io.LimitReader(noise{}, int64(size)))
			return err
		}})
		files.discard()

		if !errors.Is(err, syscall.ENOSPC) || !strings.HasPrefix(err.Error(), "year.csv: ") {
			t.Errorf("%d bytes: %v", size, err)
		}
		if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
}

// noise hardly compresses.
type noise struct{}

func (noise) Read(p []byte) (int, error) {
	x := uint32(2463534242)
	for i := range p {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		p[i] = byte(x)
	}
	return len(p), nil
}

func TestPackFolder_FullDiskWithAFolder(t *testing.T) {
	t.Parallel()
	// The folder of a pack does not appear if one of its files cannot be written, and neither does a part of it.
	target := filepath.Join(t.TempDir(), "pack")
	folder, err := newPackFolder(target)
	if err != nil {
		t.Fatal(err)
	}

	err = folder.files(packFile{"a.csv", func(out io.Writer) error { _, err := io.WriteString(out, "whole"); return err }},
		packFile{"b.csv", func(io.Writer) error { return syscall.ENOSPC }})
	folder.discard()

	if !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
	if left, err := os.ReadDir(filepath.Dir(target)); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
