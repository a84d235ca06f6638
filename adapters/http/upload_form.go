package httpapi

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
)

// FormFile is the file of an operation with Upload.Form. It is in a temporary file, and can be read
// until the operation ends.
type FormFile struct {
	// Name is the file name that the client sent, which can be anything.
	Name string
	Size int64 // bytes
	io.ReaderAt
}

// formUpload is the form of an operation with Upload.Form while the operation runs.
type formUpload struct {
	spool  *spool // nil without a file
	digest [sha256.Size]byte
}

// close removes the temporary file.
func (f *formUpload) close() {
	if f != nil && f.spool != nil {
		_ = f.spool.close() // it has no name, so nothing is left
	}
}

// maxFormOverhead is the maximum size of a form beside the file.
const maxFormOverhead = 1 << 20

// readUploadForm reads the whole form: the file into a temporary file, and the fields as parameters.
func (x *exchange) readUploadForm() error {
	limit := x.route.maxBody
	kind, parameters, err := mime.ParseMediaType(x.r.Header.Get("Content-Type"))
	switch {
	case err != nil || kind != formType:
		x.w.Header().Set("Connection", "close")
		return fault.New(fault.UnsupportedMediaType, "The body must be a form. Send it with the Content-Type %s; the file is the part %q.",
			formType, filePart)
	case x.r.ContentLength > limit+maxFormOverhead:
		x.w.Header().Set("Connection", "close")
		return fileTooLarge(limit)
	case parameters["boundary"] == "":
		return errInvalidForm()
	}
	body := &fileStream{x: x, body: http.MaxBytesReader(x.w, x.r.Body, limit+maxFormOverhead)}
	x.form = &formUpload{}
	fields := url.Values{}
	parts := multipart.NewReader(readerFunc(body.readBody), parameters["boundary"])
	for n := 0; ; n++ {
		part, err := parts.NextRawPart()
		switch {
		case isEndOfForm(err):
			return x.setFormFields(fields)
		case err != nil:
			return body.invalid(err)
		case n == maxFormFields || part.FormName() == "":
			return errInvalidForm()
		case fields.Has(part.FormName()) || part.FormName() == filePart && x.form.spool != nil:
			return fault.Invalid(fault.Field{Field: part.FormName(), Message: "must be one part of the form, not several"})
		case part.FormName() == filePart:
			if err := x.spoolFile(body, part); err != nil {
				return err
			}
			continue
		}
		value, err := body.readField(part)
		if err != nil {
			return err
		}
		fields.Set(part.FormName(), value)
	}
}

// spoolFile reads the file of a form.
func (x *exchange) spoolFile(body *fileStream, part *multipart.Part) (err error) {
	if x.form.spool, err = newSpool(); err != nil {
		return err
	}
	digest, buffer := sha256.New(), make([]byte, 64<<10)
	for {
		n, err := part.Read(buffer)
		digest.Write(buffer[:n])
		if _, err := x.form.spool.Write(buffer[:n]); err != nil {
			return fmt.Errorf("write the temporary file of an upload: %w", err)
		}
		body.read += int64(n)
		switch {
		case x.form.spool.size > x.route.maxBody:
			x.w.Header().Set("Connection", "close")
			return fileTooLarge(x.route.maxBody)
		case errors.Is(err, io.EOF):
			digest.Sum(x.form.digest[:0])
			x.call.FormFile = &FormFile{Name: fileNameOf(part), Size: x.form.spool.size, ReaderAt: x.form.spool}
			return nil
		case err != nil:
			return body.invalid(err)
		}
	}
}

// fileNameOf returns the file name of a part. Names beyond ASCII arrive as UTF-8 or, by RFC 5987, in
// the parameter filename*.
func fileNameOf(part *multipart.Part) string {
	_, parameters, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	if err != nil {
		return ""
	}
	return parameters["filename"]
}

// setFormFields makes the fields of the form the parameters of the operation. What the URL has
// besides them is not: it would be in logs.
func (x *exchange) setFormFields(fields url.Values) error {
	var bad []fault.Field
	for name, values := range x.r.URL.Query() {
		if slices.Contains(x.route.known.query, name) {
			bad = append(bad, fault.Field{Field: name, Message: "must be a part of the form, not a parameter of the URL"})
		} else if !fields.Has(name) {
			fields[name] = values // refused with the others
		}
	}
	if len(bad) > 0 {
		return fault.Invalid(bad...)
	}
	x.r.URL = withQuery(*x.r.URL, fields)
	return nil
}

func fileTooLarge(limit int64) error {
	return fault.New(fault.PayloadTooLarge, "The file is larger than %d MiB, the limit of this operation.", limit>>20)
}

// uploadSlots limits the forms that are uploaded at the same time, in all and by one platform, so
// that senders that are slow do not take all slots.
type uploadSlots struct {
	max, perPlatform int

	mu         sync.Mutex
	running    int
	byPlatform map[ident.Platform]int
}

func newUploadSlots(limit int) *uploadSlots {
	return &uploadSlots{max: limit, perPlatform: max(1, limit*3/4), byPlatform: map[ident.Platform]int{}}
}

// take takes a slot, or returns SERVICE_UNAVAILABLE.
func (u *uploadSlots) take(p ident.Platform) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.running >= u.max || u.byPlatform[p] >= u.perPlatform {
		return &fault.Error{Code: fault.ServiceUnavailable, Reason: "Too many uploads", RetryAfter: 2 * time.Second,
			Message: "As many files are being uploaded as the service accepts at the same time. Send the request again."}
	}
	u.running++
	u.byPlatform[p]++
	return nil
}

func (u *uploadSlots) free(p ident.Platform) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.running--
	if u.byPlatform[p]--; u.byPlatform[p] == 0 {
		delete(u.byPlatform, p)
	}
}
