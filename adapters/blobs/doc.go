// Package blobs stores the files of documents in a folder, or in a bucket of a service that is
// compatible with S3. It stores what it is given and encrypts nothing.
package blobs
