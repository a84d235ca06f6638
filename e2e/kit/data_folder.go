package kit

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// StartedFolder is the data folder of a causeway dev that was started once and stopped. Copies of it are made in a small part of the time.
type StartedFolder struct {
	Program string

	once   sync.Once
	err    error
	parent string
}

// Copy makes a data folder. The first call starts the program.
func (f *StartedFolder) Copy(ctx context.Context, folder string) error {
	f.once.Do(func() { f.err = f.create() })
	if f.err != nil {
		return f.err
	}
	return copyFolder(ctx, f.path(), folder)
}

// Remove removes the folder, but not its copies.
func (f *StartedFolder) Remove() { _ = os.RemoveAll(f.parent) }

func (f *StartedFolder) path() string { return filepath.Join(f.parent, "data") }

func (f *StartedFolder) create() (err error) {
	const limit = 5 * time.Minute
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if f.parent, err = os.MkdirTemp("", "causeway-started-"); err != nil {
		return err
	}
	p, err := Start(Command{Program: f.Program, Args: []string{"dev", "--no-demo", "--listen", "127.0.0.1:0", "--data", f.path()}})
	if err != nil {
		return err
	}
	if _, err := p.AwaitLine(ctx, func(line string) bool { return strings.Contains(line, " serves ") }); err != nil {
		p.Kill()
		return err
	}
	return p.Stop(limit)
}

// copyFolder copies a folder with its owners.
func copyFolder(ctx context.Context, from, to string) error {
	_, err := MustSucceed(ctx, Command{Program: "cp", Args: []string{"-a", "-T", from, to}})
	return err
}
