package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/textproto"

	"causeway/core/document"
	"causeway/ports"
)

// form is the body of a submission: the application and then the files. It opens one file at a time,
// when the one before has been read.
type form struct {
	contentType string
	size        int64
	parts       []formPart
	open        io.ReadCloser // nil if the next part is not open yet
}

// formPart returns a part of the body.
type formPart func() (io.ReadCloser, error)

// newForm returns the form of an application.
func newForm(ctx context.Context, a Application, documents []document.Document, files ports.Files) (*form, error) {
	text, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	f := new(form)
	var head bytes.Buffer
	w := multipart.NewWriter(&head)
	f.contentType = w.FormDataContentType()
	flush := func() {
		text := bytes.Clone(head.Bytes())
		head.Reset()
		f.size += int64(len(text))
		f.parts = append(f.parts, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil })
	}
	part := func(disposition, contentType string) error {
		_, err := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {"form-data; " + disposition}, "Content-Type": {contentType}})
		return err
	}
	if err := part(`name="application"`, "application/json"); err != nil {
		return nil, err
	}
	head.Write(text)
	for _, d := range documents {
		if err := part(fmt.Sprintf(`name=%q; filename=%[1]q`, d.ID.String()), string(d.File.ContentType)); err != nil {
			return nil, err
		}
		flush()
		f.size += d.File.Size
		f.parts = append(f.parts, func() (io.ReadCloser, error) {
			file, err := files.Open(ctx, document.BlobName(d.Platform, d.File.Blob), d.File.Key)
			if err != nil {
				return nil, fmt.Errorf("the file of %s: %w", d.ID, err)
			}
			return file, nil
		})
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	flush()
	return f, nil
}

// Read implements io.Reader.
func (f *form) Read(p []byte) (int, error) {
	for len(f.parts) > 0 {
		if f.open == nil {
			var err error
			if f.open, err = f.parts[0](); err != nil {
				return 0, err
			}
		}
		n, err := f.open.Read(p)
		if errors.Is(err, io.EOF) {
			f.parts, err = f.parts[1:], f.Close()
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
	return 0, io.EOF
}

// Close closes the open file.
func (f *form) Close() error {
	if f.open == nil {
		return nil
	}
	open := f.open
	f.open = nil
	return open.Close()
}
