// Package textfile turns the bytes of a file into text, for all formats: it limits their number, keeps what went wrong in
// reading them, and decodes the encodings in which banks write.
package textfile
