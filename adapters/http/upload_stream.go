package httpapi

import (
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"mime/multipart"
	"net/http"
	"time"

	"causeway/core/fault"
)

// fileStream reads the file of an operation with Upload.Stream while it arrives. Its errors are
// faults, except io.EOF, which it returns when the whole request was read.
type fileStream struct {
	x      *exchange
	body   io.Reader         // the whole body, limited in size
	form   *multipart.Reader // nil if the body is the file
	file   io.Reader
	digest hash.Hash // of the fingerprint
	read   int64
	broken bool                                // the body did not arrive whole
	err    error                               // what further calls of Read return
	onEnd  func(fingerprint [sha256.Size]byte) // nil, or called before io.EOF is returned
}

// openStream finds the file in the body. The parts of a form before it are query parameters; those
// after it are skipped.
func (x *exchange) openStream() error {
	limit := x.route.maxBody
	if x.r.ContentLength > limit {
		x.w.Header().Set("Connection", "close")
		return tooLarge(limit)
	}
	x.file = &fileStream{x: x, digest: sha256.New()}
	x.file.body = http.MaxBytesReader(x.w, x.r.Body, limit)
	boundary, isForm, err := x.uploadType()
	if err != nil {
		return err
	}
	if isForm {
		err = x.file.openForm(boundary)
	} else {
		x.file.file = readerFunc(x.file.readBody)
	}
	x.file.digest.Write(x.appendTarget(nil))
	x.call.File = x.file
	return err
}

func (s *fileStream) openForm(boundary string) error {
	if boundary == "" {
		return errInvalidForm()
	}
	query := s.x.r.URL.Query()
	s.form = multipart.NewReader(readerFunc(s.readBody), boundary)
	for range maxFormFields {
		part, err := s.form.NextRawPart()
		switch {
		case isEndOfForm(err):
			return fault.Invalid(fault.Field{Field: filePart, Message: "must be a part of the form"})
		case err != nil:
			return s.invalid(err)
		case part.FormName() == filePart:
			s.file, s.x.r.URL = part, withQuery(*s.x.r.URL, query)
			return nil
		}
		value, err := s.readField(part)
		if err != nil {
			return err
		}
		query.Add(part.FormName(), value)
	}
	return errInvalidForm()
}

func (s *fileStream) readField(part *multipart.Part) (string, error) {
	content, err := io.ReadAll(io.LimitReader(part, maxFormFieldBytes+1))
	switch {
	case err != nil:
		return "", s.invalid(err)
	case len(content) > maxFormFieldBytes:
		return "", tooLarge(maxFormFieldBytes)
	case !isValidText(part.FormName()) || !isValidText(string(content)):
		return "", errInvalidForm()
	}
	return string(content), nil
}

// Read implements io.Reader.
func (s *fileStream) Read(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.file.Read(p)
	s.digest.Write(p[:n])
	s.read += int64(n)
	switch {
	case err == nil:
		return n, nil
	case errors.Is(err, io.EOF):
		s.err = s.end()
	default:
		s.err = s.invalid(err)
	}
	return n, s.err
}

// end reads what follows the file, and returns io.EOF if the request is complete.
func (s *fileStream) end() error {
	if s.form != nil {
		for n := 0; ; n++ {
			part, err := s.form.NextRawPart()
			if isEndOfForm(err) {
				break
			}
			if err != nil {
				return s.invalid(err)
			}
			if part.FormName() == filePart {
				return fault.Invalid(fault.Field{Field: filePart, Message: "must be one part of the form, not several"})
			}
			if n == maxFormFields {
				return errInvalidForm()
			}
			if _, err := s.readField(part); err != nil {
				return err
			}
		}
	}
	if s.onEnd != nil {
		s.onEnd([sha256.Size]byte(s.digest.Sum(nil)))
	}
	return io.EOF
}

// ended reports whether the whole request was read.
func (s *fileStream) ended() bool { return s != nil && errors.Is(s.err, io.EOF) }

// drain reads the file to its end and returns the fingerprint of the request.
func (s *fileStream) drain() (fingerprint [sha256.Size]byte, err error) {
	s.onEnd = func(sum [sha256.Size]byte) { fingerprint = sum }
	_, err = io.Copy(io.Discard, s)
	return fingerprint, err
}

// readBody reads from the connection. A client that sends nothing for StallTimeout is given up.
func (s *fileStream) readBody(p []byte) (int, error) {
	deadline := time.Now().Add(s.x.api.config.StallTimeout)
	if last := s.x.started.Add(s.x.route.timeout); s.x.route.timeout > 0 && last.Before(deadline) {
		deadline = last
	}
	// The writers of tests have no deadlines.
	_ = http.NewResponseController(s.x.w).SetReadDeadline(deadline)
	n, err := s.body.Read(p)
	s.broken = err != nil && !errors.Is(err, io.EOF)
	return n, err
}

// invalid returns the fault for an error of reading the body.
func (s *fileStream) invalid(err error) error {
	s.x.w.Header().Set("Connection", "close")
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return tooLarge(s.x.route.maxBody)
	case s.broken:
		return fault.New(fault.InvalidRequestFormat, "Incomplete request body: %d bytes of the file arrived. Send the request again.", s.read)
	default:
		return errInvalidForm()
	}
}

// isEndOfForm reports whether a form ended with its last boundary. A form that ends without one
// has an error that wraps io.EOF.
func isEndOfForm(err error) bool {
	return err == io.EOF //nolint:errorlint // see above
}

func errInvalidForm() error {
	return fault.New(fault.InvalidRequestFormat, "The body is not a valid multipart form.")
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
