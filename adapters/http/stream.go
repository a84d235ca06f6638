package httpapi

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"causeway/core/fault"
)

// File is an answer that is written as it is made, of any size.
type File struct {
	// Name is what a browser saves it as, ContentType its media type.
	Name, ContentType string
	// Policy is the Content-Security-Policy of a page; such a file is shown, not saved.
	Policy string
	// Write makes it. An error before the first bytes have left is answered like that of
	// any operation; after that the connection is broken, so that nobody takes a part
	// for the whole.
	Write func(ctx context.Context, out io.Writer) error
}

// streamBufferSize are held back, so that what fails at once fails with a status.
const streamBufferSize = 32 << 10

// GetFile registers an operation that answers with a file. Its handler is bound by the
// ordinary limit of time; what it returns is written without one, for as long as the
// caller reads: how long that takes depends on how much there is. contentTypes describe what it may be.
func GetFile[In any](a *API, op Operation, contentTypes []string, handle Handler[In, File]) {
	if err := op.validate(); err != nil {
		panic(fmt.Sprintf("httpapi: GET %s: %v", op.Path, err))
	}
	op.Status, op.MaxBody = http.StatusOK, defaultMaxBody
	pattern := BasePath + op.Path
	rt := &route{
		method: http.MethodGet, pattern: pattern, timer: a.meter.timer(http.MethodGet, pattern),
		permission: op.Permission, public: op.Public, sandboxOnly: op.SandboxOnly, maxBody: op.MaxBody,
	}
	described := a.document.describe(http.MethodGet, op, reflect.TypeFor[NoBody](), rt)
	content := map[string]*huma.MediaType{}
	for _, contentType := range contentTypes {
		content[contentType] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
	}
	described.Responses["200"] = &huma.Response{Description: "The file, as it is made.", Content: content}
	huma.Register(a.huma, described, func(ctx context.Context, in *In) (*humaOutput, error) {
		x := exchangeFromContext(ctx)
		file, err := handle(ctx, x.call, in)
		x.responded = true
		if err != nil {
			x.fail(err)
			return emptyOutput, nil
		}
		x.stream(file)
		return emptyOutput, nil
	})
	a.document.addErrorResponses(rt.op, op)
}

// stream writes a file to the caller.
func (x *exchange) stream(file File) {
	if !x.r.ProtoAtLeast(1, 1) {
		// There a broken connection is how every answer ends.
		x.respondError(fault.New(fault.InvalidRequestFormat, "Files are sent by HTTP/1.1 or newer, where one that breaks off does not look whole. Tell the proxy in between to use it (nginx: proxy_http_version 1.1)."))
		return
	}
	// What bounds an operation does not bound this; a caller who leaves ends it.
	ctx := x.r.Context()
	wire := &streamWriter{x: x, file: file, controller: http.NewResponseController(x.w)}
	// The request has been read. Left standing, the limit on reading it would pass for
	// the caller leaving. A writer without deadlines is one of a test.
	_ = wire.controller.SetReadDeadline(time.Time{})
	out := bufio.NewWriterSize(wire, streamBufferSize)
	err := file.Write(ctx, out)
	if err == nil {
		err = out.Flush()
	}
	switch {
	case err == nil && !x.headersSent: // an empty file
		wire.sendHeaders()
	case err != nil && !x.headersSent:
		x.respondError(err)
	case err != nil:
		x.err, x.truncated = errors.Join(errors.New("a file broke off"), err), true
	}
}

// streamWriter sends what is written to the caller, and gives up on one who does not read.
type streamWriter struct {
	x          *exchange
	file       File
	controller *http.ResponseController
}

func (w *streamWriter) sendHeaders() {
	header := w.x.w.Header()
	header.Set("Content-Type", w.file.ContentType)
	disposition := "attachment"
	if w.file.Policy != "" {
		disposition = "inline"
		header.Set("Content-Security-Policy", w.file.Policy)
	}
	header.Set("Content-Disposition", mime.FormatMediaType(disposition, map[string]string{"filename": w.file.Name}))
	w.x.status, w.x.headersSent = http.StatusOK, true
	w.x.w.WriteHeader(http.StatusOK)
}

func (w *streamWriter) Write(p []byte) (int, error) {
	if !w.x.headersSent {
		w.sendHeaders()
	}
	if err := w.controller.SetWriteDeadline(time.Now().Add(w.x.api.config.StallTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	n, err := w.x.w.Write(p)
	if err == nil {
		err = w.controller.Flush() // what is made leaves at once
	}
	return n, err
}
