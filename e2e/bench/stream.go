package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// streamResult is a body that was streamed, and how long that took.
type streamResult struct {
	bytes    int64
	duration time.Duration
}

// stream gets what is below a path into out, as it comes.
func (t target) stream(ctx context.Context, path string, out io.Writer) (d streamResult, err error) {
	begin := time.Now()
	answer, err := t.do(ctx, http.MethodGet, path, "", nil)
	if err != nil {
		return d, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(answer.Body, 500))
		return d, newUnexpectedStatus("GET "+path, answer.StatusCode, body)
	}
	d.bytes, err = io.Copy(out, answer.Body)
	d.duration = time.Since(begin)
	return d, err
}

// upload posts a file and returns the status and the body of the answer.
func (t target) upload(ctx context.Context, path, contentType string, file []byte) (status int, body []byte, err error) {
	answer, err := t.do(ctx, http.MethodPost, path, contentType, bytes.NewReader(file))
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	if body, err = io.ReadAll(answer.Body); err != nil {
		return 0, nil, err
	}
	if answer.StatusCode > 299 {
		return 0, nil, newUnexpectedStatus("POST "+path, answer.StatusCode, body)
	}
	return answer.StatusCode, body, nil
}

func (t target) do(ctx context.Context, method, path, contentType string, body io.Reader) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+t.address+basePath+path, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", t.authorization)
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	return answer, nil
}
