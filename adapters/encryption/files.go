package encryption

import (
	"bufio"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"causeway/ports"
)

// A sealed file is a version and frames of frameLength bytes, the last of which can be shorter, each
// with its tag. The nonce of a frame has its number and says whether it is the last, so that frames
// cannot be moved, repeated or left out (the STREAM construction). A key seals one file.
const (
	fileVersion   = 1
	frameLength   = 64 << 10
	tagLength     = 16
	sealedFrame   = frameLength + tagLength
	fileKeyLength = 32
)

// Files implements ports.Files: it encrypts the files that it stores as blobs with AES-256-GCM.
type Files struct{ blobs ports.Blobs }

var _ ports.Files = (*Files)(nil)

// NewFiles returns files that are stored as blobs.
func NewFiles(blobs ports.Blobs) *Files { return &Files{blobs} }

// Put implements ports.Files.
func (f *Files) Put(ctx context.Context, name string, content io.Reader, size int64) (key []byte, err error) {
	key = make([]byte, fileKeyLength)
	_, _ = rand.Read(key) // never fails
	frames, err := newFrames(key, name)
	if err != nil {
		return nil, err
	}
	count := max(1, (size+frameLength-1)/frameLength)
	return key, f.blobs.Put(ctx, name, &sealReader{frames: frames, plain: content, left: size, out: []byte{fileVersion}},
		1+size+count*tagLength)
}

// Open implements ports.Files.
func (f *Files) Open(ctx context.Context, name string, key []byte) (io.ReadCloser, error) {
	frames, err := newFrames(key, name)
	if err != nil {
		return nil, err
	}
	blob, err := f.blobs.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	return &openReader{frames: frames, sealed: bufio.NewReaderSize(blob, sealedFrame+1), blob: blob}, nil
}

// Delete implements ports.Files.
func (f *Files) Delete(ctx context.Context, name string) error { return f.blobs.Delete(ctx, name) }

// frames encrypts or decrypts the frames of a file in turn.
type frames struct {
	aead cipher.AEAD
	name []byte // the associated data of each frame
	next uint32
}

func newFrames(key []byte, name string) (frames, error) {
	if len(key) != fileKeyLength {
		return frames{}, fmt.Errorf("the key of a file must have %d bytes, not %d", fileKeyLength, len(key))
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return frames{}, err
	}
	aead, err := cipher.NewGCM(block)
	return frames{aead: aead, name: append([]byte{fileVersion}, name...)}, err
}

// nonce returns the nonce of the next frame.
func (f *frames) nonce(last bool) []byte {
	nonce := make([]byte, nonceLength)
	binary.BigEndian.PutUint32(nonce[nonceLength-5:], f.next)
	if last {
		nonce[nonceLength-1] = 1
	}
	f.next++
	return nonce
}

// sealReader returns a sealed file.
type sealReader struct {
	frames
	plain io.Reader
	left  int64 // unread bytes of plain
	out   []byte
	frame []byte
	ended bool
}

// Read implements io.Reader.
func (s *sealReader) Read(p []byte) (int, error) {
	if len(s.out) == 0 {
		if s.ended {
			return 0, s.checkEnd()
		}
		if err := s.seal(); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.out)
	s.out = s.out[n:]
	return n, nil
}

// seal encrypts the next frame.
func (s *sealReader) seal() error {
	if s.frame == nil {
		s.frame = make([]byte, sealedFrame)
	}
	plain := s.frame[:min(s.left, frameLength)]
	if _, err := io.ReadFull(s.plain, plain); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errShortFile
		}
		return err
	}
	s.left -= int64(len(plain))
	s.ended = s.left == 0
	s.out = s.aead.Seal(plain[:0], s.nonce(s.ended), plain, s.name)
	return nil
}

// checkEnd returns io.EOF if nothing follows the size that was announced.
func (s *sealReader) checkEnd() error {
	var more [1]byte
	n, err := io.ReadFull(s.plain, more[:])
	if n > 0 {
		return errLongFile
	}
	return err
}

var (
	errShortFile = errors.New("the file is shorter than announced")
	errLongFile  = errors.New("the file is longer than announced")
)

// openReader returns the content of a sealed file.
type openReader struct {
	frames
	sealed *bufio.Reader
	blob   io.Closer
	frame  []byte
	out    []byte
	begun  bool
	err    error
}

// Read implements io.Reader.
func (o *openReader) Read(p []byte) (int, error) {
	for len(o.out) == 0 {
		if o.err == nil {
			o.err = o.open()
		}
		if o.err != nil {
			return 0, o.err
		}
	}
	n := copy(p, o.out)
	o.out = o.out[n:]
	return n, nil
}

// open decrypts the next frame, or returns io.EOF behind the last one.
func (o *openReader) open() error {
	if !o.begun {
		o.begun = true
		if version, err := o.sealed.ReadByte(); err != nil || version != fileVersion {
			return readError(err)
		}
		o.frame = make([]byte, sealedFrame)
	} else if o.frame == nil {
		return io.EOF
	}
	n, err := io.ReadFull(o.sealed, o.frame)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return readError(err)
	}
	_, err = o.sealed.Peek(1)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	last := err != nil
	if o.out, err = o.aead.Open(o.frame[:0], o.nonce(last), o.frame[:n], o.name); err != nil {
		o.out = nil
		return ErrCannotDecrypt
	}
	if last {
		frame := o.out
		o.frame, o.out = nil, frame
		if len(frame) == 0 {
			return io.EOF
		}
	}
	return nil
}

// readError returns the error for a file that cannot be read or has ended too early.
func readError(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return ErrCannotDecrypt
	}
	return err
}

// Close implements io.Closer.
func (o *openReader) Close() error { return o.blob.Close() }
