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

// File is a streamed response of any size.
type File struct {
	// Name is the file name, ContentType the media type.
	Name, ContentType string
	// Policy is the Content-Security-Policy of a page. A file with a policy is displayed by
	// browsers, any other is downloaded.
	Policy string
	// Write writes the content. An error before the first bytes are sent becomes an error
	// response; after that the connection is closed, so that no client mistakes a partial
	// file for a complete one. The context ends after FileTimeout.
	Write func(ctx context.Context, out io.Writer) error
}

// streamBufferSize is the number of bytes that are buffered, so that an early error still
// becomes an error response.
const streamBufferSize = 32 << 10

// GetFile registers an operation that returns a file of one of the content types. The
// handler has the timeout of an operation; writing the file has FileTimeout, as long as the
// client reads.
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
		content[contentType] = &huma.MediaType{Schema: binaryFile("")}
	}
	described.Responses["200"] = &huma.Response{Description: "The file.", Content: content}
	huma.Register(a.huma, described, func(ctx context.Context, in *In) (*humaOutput, error) {
		x := exchangeFromContext(ctx)
		if len(x.unknown) > 0 {
			x.sendFile(nil, x.withUnknown(nil))
			return emptyOutput, nil
		}
		file, err := handle(ctx, x.call, in)
		x.sendFile(&file, err)
		return emptyOutput, nil
	})
	a.document.addErrorResponses(rt.op, op)
}

// sendFile responds with the file or the error of a handler.
func (x *exchange) sendFile(file *File, err error) {
	x.responded = true
	if err != nil {
		x.fail(err)
		return
	}
	x.stream(*file)
}

// stream writes a file to the caller.
func (x *exchange) stream(file File) {
	if !x.r.ProtoAtLeast(1, 1) {
		// In HTTP/1.0 the end of a response is a closed connection, so a client could not
		// detect a partial file.
		x.respondError(fault.New(fault.InvalidRequestFormat, "Files require HTTP/1.1 or later. If you use a proxy, configure it (nginx: "+
			"proxy_http_version 1.1)."))
		return
	}
	// The timeout of the operation does not apply; a disconnected client ends the context.
	limit := x.api.config.FileTimeout
	deadline := time.Now().Add(limit)
	ctx, cancel := context.WithDeadline(x.r.Context(), deadline)
	defer cancel()
	wire := &streamWriter{x: x, file: file, controller: http.NewResponseController(x.w), deadline: deadline}
	// The request has been read. If its read deadline passed, the server would cancel the
	// context. The writers of tests have no deadlines.
	_ = wire.controller.SetReadDeadline(time.Time{})
	out := bufio.NewWriterSize(wire, streamBufferSize)
	err := file.Write(ctx, out)
	if err == nil {
		err = out.Flush()
	}
	if err != nil && !time.Now().Before(deadline) {
		err = errors.Join(&fault.Error{Code: fault.ServiceUnavailable, RetryAfter: time.Minute,
			Message: fmt.Sprintf("The file was not complete after %s, the maximum. Request a shorter period, one account or one currency, and "+
				"read faster.", limit)}, err)
	}
	switch {
	case err == nil && !x.headersSent: // an empty file
		wire.sendHeaders()
	case err != nil && !x.headersSent:
		_ = wire.controller.SetWriteDeadline(time.Now().Add(x.api.config.StallTimeout)) // that of the server may have passed
		x.respondError(err)
	case err != nil:
		x.err, x.truncated = errors.Join(errors.New("file was not sent completely"), err), true
	}
}

// streamWriter writes to the client and fails if the client does not read for
// StallTimeout, and at the deadline.
type streamWriter struct {
	x          *exchange
	file       File
	controller *http.ResponseController
	deadline   time.Time
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
	stalled := time.Now().Add(w.x.api.config.StallTimeout)
	if w.deadline.Before(stalled) {
		stalled = w.deadline
	}
	if err := w.controller.SetWriteDeadline(stalled); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	n, err := w.x.w.Write(p)
	if err == nil {
		err = w.controller.Flush() // send without delay
	}
	return n, err
}
