package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"
	"time"
)

// A bom is an SBOM in the form of CycloneDX 1.6: https://cyclonedx.org/docs/1.6/json.
type bom struct {
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Serial       string       `json:"serialNumber"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Time       string     `json:"timestamp"` // of the commit
	Component  component  `json:"component"`
	Properties []property `json:"properties,omitempty"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	URL        string     `json:"purl"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

// sbom lists what the Go tool says that the program was built of.
func (b *built) sbom() ([]byte, error) {
	main := moduleOf(b.info.Main, "application")
	main.Hashes = []hash{{"SHA-256", sumOf(b.program)}}
	goVersion := strings.TrimPrefix(b.info.GoVersion, "go")
	library := component{Type: "library", Name: "std", Version: goVersion, URL: "pkg:golang/std@" + goVersion}
	library.Ref = library.URL
	list := bom{
		Format: "CycloneDX", Spec: "1.6", Serial: "urn:uuid:" + uuidOf(b.program), Version: 1,
		Metadata:   metadata{Time: b.time.UTC().Format(time.RFC3339), Component: main},
		Components: []component{library},
	}
	for _, s := range b.info.Settings {
		list.Metadata.Properties = append(list.Metadata.Properties, property{"snow:build:" + s.Key, s.Value})
	}
	for _, m := range b.info.Deps {
		list.Components = append(list.Components, moduleOf(*m, "library"))
	}
	all := dependency{Ref: main.Ref}
	for _, c := range list.Components {
		all.DependsOn = append(all.DependsOn, c.Ref)
		list.Dependencies = append(list.Dependencies, dependency{Ref: c.Ref})
	}
	list.Dependencies = append([]dependency{all}, list.Dependencies...)
	text, err := json.MarshalIndent(list, "", "  ")
	return append(text, '\n'), err
}

// moduleOf returns a module as a component. A module of this repository that is built from the checkout is of the
// commit.
func moduleOf(m debug.Module, kind string) component {
	sum := m.Sum
	if m.Replace != nil {
		sum = m.Replace.Sum
	}
	c := component{Type: kind, Name: m.Path, Version: m.Version, URL: "pkg:golang/" + m.Path + "@" + strings.ReplaceAll(m.Version, "+", "%2B")}
	c.Ref = c.URL
	if sum != "" { // of the files of the module: see go.sum
		c.Properties = []property{{"snow:go.sum", sum}}
	}
	return c
}

// uuidOf returns a UUID that follows from a program.
func uuidOf(program []byte) string {
	sum := sha256.Sum256(append([]byte("SBOM of "), program...))
	u := sum[:16]
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80 // version 8
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}
