// Package docs contains the guides, which the service serves beside the reference of its API.
package docs

import "embed"

// Guides are the Markdown files of this folder.
//
//go:embed *.md
var Guides embed.FS
