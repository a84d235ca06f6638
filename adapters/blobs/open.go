package blobs

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"regexp"

	"causeway/ports"
)

// Credentials are those of S3. If they are empty, those of the environment are used: the variables of
// AWS, or the role of the machine.
type Credentials struct{ AccessKey, SecretKey string }

// Open opens the store at a location: folder:/path, or s3://bucket?endpoint=https://host&region=name.
// A folder is created if it does not exist. A bucket must exist, and is not read before its first use.
func Open(location string, credentials Credentials) (ports.Blobs, error) {
	u, err := url.Parse(location)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", locationRule, errors.Unwrap(err)) // without the location, which may hold a secret
	}
	switch {
	case u.Scheme == "folder" && u.Host == "" && u.RawQuery == "" && u.User == nil:
		path := u.Path
		if u.Opaque != "" {
			path = u.Opaque
		}
		if path, err = url.PathUnescape(path); err != nil || path == "" {
			break
		}
		return OpenFolder(filepath.FromSlash(path))
	case u.Scheme == "s3" && u.Host != "" && u.User == nil:
		return openS3(u, credentials)
	}
	return nil, errors.New(locationRule)
}

const locationRule = "must be folder:/path or s3://bucket?endpoint=https://host&region=name"

var namePattern = regexp.MustCompile(`^[a-z0-9-]+(/[a-z0-9-]+)*$`)

func checkName(name string) error {
	if len(name) > 200 || !namePattern.MatchString(name) {
		return fmt.Errorf("%q is no name of a stored file", name)
	}
	return nil
}

// exactly reads a number of bytes and fails if there are fewer or more.
type exactly struct {
	r    io.Reader
	left int64
	// failed is the error of reading, which the client of a service may hide.
	failed error
}

var errWrongSize = errors.New("the file does not have the size that was announced")

// Read implements io.Reader.
func (e *exactly) Read(p []byte) (int, error) {
	if e.left == 0 {
		var more [1]byte
		if n, err := e.r.Read(more[:]); n > 0 {
			e.failed = errWrongSize
		} else if err == nil {
			return 0, nil
		} else if !errors.Is(err, io.EOF) {
			e.failed = err
		}
		if e.failed != nil {
			return 0, e.failed
		}
		return 0, io.EOF
	}
	n, err := e.r.Read(p[:min(int64(len(p)), e.left)])
	e.left -= int64(n)
	switch {
	case err == nil || errors.Is(err, io.EOF) && e.left == 0:
		return n, nil
	case errors.Is(err, io.EOF):
		err = errWrongSize
	}
	e.failed = err
	return n, err
}
