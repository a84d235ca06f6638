package httpapi

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// spool is a temporary file for what should not be in memory. It is encrypted with a key that only
// this process knows and has no name, so nothing of it is left when the process ends in any way.
type spool struct {
	file  *os.File
	block cipher.Block
	size  int64
	buf   []byte // of Write
}

func newSpool() (*spool, error) {
	var key [32]byte
	_, _ = rand.Read(key[:]) // never fails
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, err
	}
	file, err := os.CreateTemp("", "causeway-upload-*") // mode 0600
	if err != nil {
		return nil, fmt.Errorf("an upload needs a temporary folder that the service can write, TMPDIR or /tmp: %w", err)
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &spool{file: file, block: block}, nil
}

// Write implements io.Writer.
func (s *spool) Write(p []byte) (int, error) {
	s.buf = append(s.buf[:0], p...)
	s.crypt(s.buf, s.size)
	n, err := s.file.WriteAt(s.buf, s.size)
	s.size += int64(n)
	return n, err
}

// ReadAt implements io.ReaderAt.
func (s *spool) ReadAt(p []byte, offset int64) (int, error) {
	if offset < 0 || offset >= s.size {
		return 0, io.EOF
	}
	n, err := s.file.ReadAt(p, offset)
	s.crypt(p[:n], offset)
	return n, err
}

// crypt encrypts or decrypts what is stored at an offset. The key is used once, so the counter can
// begin at zero.
func (s *spool) crypt(p []byte, offset int64) {
	var counter, skipped [aes.BlockSize]byte
	binary.BigEndian.PutUint64(counter[8:], uint64(offset)/aes.BlockSize)
	stream := cipher.NewCTR(s.block, counter[:])
	skip := skipped[:offset%aes.BlockSize]
	stream.XORKeyStream(skip, skip)
	stream.XORKeyStream(p, p)
}

func (s *spool) close() error { return s.file.Close() }
