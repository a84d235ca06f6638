package document

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxFileName is the maximum length of a file name in bytes, that of most file systems less what
// programs add to it.
const maxFileName = 200

// CleanFileName returns a file name that is safe to show and to save: without folders, control
// characters, invisible marks that reverse the order of letters, and characters that are special in
// file systems; with the extension of the content type. It is never empty.
func CleanFileName(name string, t ContentType) string {
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	name = strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError, unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
			return -1
		case strings.ContainsRune(`:*?"<>|`, r):
			return '_'
		case unicode.IsSpace(r):
			return ' '
		}
		return r
	}, name)
	name = strings.TrimRight(name, " .")
	extensions := map[ContentType][]string{PDF: {".pdf"}, JPEG: {".jpg", ".jpeg"}, PNG: {".png"}}[t]
	extension := ""
	if len(extensions) > 0 {
		extension = extensions[0]
	}
	for _, e := range extensions {
		if len(name) >= len(e) && strings.EqualFold(name[len(name)-len(e):], e) {
			name, extension = name[:len(name)-len(e)], name[len(name)-len(e):]
			break
		}
	}
	name = strings.Trim(name, " .")
	for len(name)+len(extension) > maxFileName {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	if name = strings.TrimRight(name, " ."); name == "" {
		name = "document"
	}
	return name + extension
}
