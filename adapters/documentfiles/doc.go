// Package documentfiles checks the files of documents: PDF files, and JPEG and PNG images.
//
// What a file is depends on its content alone. Of an image only that is kept which is needed to show
// it, byte for byte, so that no quality is lost: no metadata, no second image, nothing behind its end.
// The orientation is kept. A PDF file is kept as it is, and refused if it is encrypted or could do
// more than show pages. Files are never decoded to pixels or rendered, so memory does not depend on
// their size.
package documentfiles
