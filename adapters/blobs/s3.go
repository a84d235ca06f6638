package blobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"causeway/ports"
)

// The timeouts of S3: of one request with its content, and of the time until the response begins.
const (
	s3Timeout         = time.Minute
	s3ResponseTimeout = 20 * time.Second
)

// s3 stores blobs as objects of a bucket.
type s3 struct {
	client *minio.Client
	bucket string
	prefix string
}

// openS3 opens a bucket. The path of the location begins the names of the objects.
func openS3(location *url.URL, c Credentials) (*s3, error) {
	query := location.Query()
	endpoint := &url.URL{Scheme: "https", Host: "s3.amazonaws.com"}
	if text := query.Get("endpoint"); text != "" {
		var err error
		if endpoint, err = url.Parse(text); err != nil || endpoint.Host == "" || endpoint.Scheme != "https" && endpoint.Scheme != "http" ||
			strings.Trim(endpoint.Path, "/") != "" {
			return nil, errors.New("endpoint must be an address such as https://s3.example.com")
		}
	}
	for name := range query {
		if name != "endpoint" && name != "region" {
			return nil, fmt.Errorf("%s is unknown; it %s", name, locationRule)
		}
	}
	if (c.AccessKey == "") != (c.SecretKey == "") {
		return nil, errors.New("needs both keys or none: --blobs-access-key and --blobs-secret-key")
	}
	dialer := &net.Dialer{Timeout: 5 * time.Second}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, TLSHandshakeTimeout: 5 * time.Second,
		ResponseHeaderTimeout: s3ResponseTimeout, IdleConnTimeout: time.Minute, MaxIdleConnsPerHost: 16, DisableCompression: true,
	}
	given := credentials.NewStaticV4(c.AccessKey, c.SecretKey, "")
	if c.AccessKey == "" {
		given = credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{},
			&credentials.IAM{Client: &http.Client{Timeout: 5 * time.Second}}})
	}
	client, err := minio.New(endpoint.Host, &minio.Options{Creds: given, Secure: endpoint.Scheme == "https", Region: query.Get("region"),
		Transport: transport, MaxRetries: 3})
	if err != nil {
		return nil, err
	}
	s := &s3{client: client, bucket: location.Host, prefix: strings.Trim(location.Path, "/")}
	if s.prefix != "" {
		s.prefix += "/"
	}
	return s, nil
}

var _ ports.Blobs = (*s3)(nil)

// Put implements ports.Blobs. A request that ends early stores nothing.
func (s *s3) Put(ctx context.Context, name string, content io.Reader, size int64) error {
	if err := checkName(name); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s3Timeout)
	defer cancel()
	exact := &exactly{r: content, left: size}
	_, err := s.client.PutObject(ctx, s.bucket, s.prefix+name, exact, size, minio.PutObjectOptions{DisableMultipart: true,
		ContentType: "application/octet-stream"})
	if exact.failed != nil {
		return exact.failed
	}
	if err != nil {
		return fmt.Errorf("store %s in the bucket %s: %w", name, s.bucket, err)
	}
	// What follows the announced size was not asked for.
	if _, err := exact.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		return errors.Join(errWrongSize, s.Delete(ctx, name))
	}
	return nil
}

// Get implements ports.Blobs.
func (s *s3) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s3Timeout)
	object, err := s.client.GetObject(ctx, s.bucket, s.prefix+name, minio.GetObjectOptions{})
	if err == nil {
		_, err = object.Stat() // sends the request
	}
	switch {
	case err == nil:
		return &s3Content{object, cancel}, nil
	case minio.ToErrorResponse(err).Code == "NoSuchKey":
		err = ports.ErrNoBlob
	}
	cancel()
	return nil, fmt.Errorf("read %s from the bucket %s: %w", name, s.bucket, err)
}

// s3Content is the content of an object, whose request ends when it is closed.
type s3Content struct {
	*minio.Object
	cancel func()
}

// Close implements io.Closer.
func (c *s3Content) Close() error {
	defer c.cancel()
	return c.Object.Close()
}

// Delete implements ports.Blobs.
func (s *s3) Delete(ctx context.Context, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s3Timeout)
	defer cancel()
	if err := s.client.RemoveObject(ctx, s.bucket, s.prefix+name, minio.RemoveObjectOptions{}); err != nil {
		return fmt.Errorf("delete %s from the bucket %s: %w", name, s.bucket, err)
	}
	return nil
}
