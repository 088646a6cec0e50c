//! Conversion from SVG to PDF, with vector graphics.
//!
//! Texts are drawn as the outlines of their letters, so that they look the same everywhere and no font is
//! needed to open or print the file. Only what figures contain is converted: paths with plain colours, clip
//! paths and transparency.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use pdf_writer::types::{LineCapStyle, LineJoinStyle};
use pdf_writer::{Content, Filter, Finish as _, Name, Pdf, Rect, Ref, TextStr};
use resvg::usvg::tiny_skia_path::PathSegment;
use resvg::usvg::{self, FillRule, Group, LineCap, LineJoin, Node, Paint, PaintOrder, Transform};

use super::raster::parse;
use super::{FigureError, POINTS_PER_UNIT};

/// Converts an SVG to a PDF of one page, which is as large as the figure.
pub(super) fn pdf(svg: &str, title: &str) -> Result<Vec<u8>, FigureError> {
    let tree = parse(svg)?;
    let scale = POINTS_PER_UNIT as f32;
    let (width, height) = (scale * tree.size().width(), scale * tree.size().height());
    let mut page = PageContent { content: Content::new(), alphas: Vec::new() };
    // The origin of a PDF is the lower left corner.
    page.content.transform([scale, 0.0, 0.0, -scale, 0.0, height]);
    page.group(tree.root(), 1.0);
    let PageContent { content, alphas } = page;

    let mut ids = (1..).map(Ref::new);
    let mut id = || ids.next().unwrap_or(Ref::new(1));
    let [catalog, pages, sheet, stream, info] = std::array::from_fn(|_| id());
    let mut pdf = Pdf::new();
    pdf.catalog(catalog).pages(pages);
    pdf.pages(pages).kids([sheet]).count(1);
    let states: Vec<Ref> = alphas.iter().map(|_| id()).collect();
    let mut written = pdf.page(sheet);
    written.parent(pages).media_box(Rect::new(0.0, 0.0, width, height)).contents(stream);
    let mut resources = written.resources();
    let mut named = resources.ext_g_states();
    for (k, &state) in states.iter().enumerate() {
        named.pair(Name(alpha_name(k).as_bytes()), state);
    }
    named.finish();
    resources.finish();
    written.finish();
    for ([fill, stroke], state) in alphas.into_iter().zip(states) {
        pdf.ext_graphics(state).non_stroking_alpha(fill).stroking_alpha(stroke);
    }
    pdf.document_info(info).title(TextStr(title)).creator(TextStr("hodgerank"));
    let data = compressed(&content.finish()).map_err(FigureError::Pdf)?;
    pdf.stream(stream, &data).filter(Filter::FlateDecode);
    Ok(pdf.finish())
}

fn compressed(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    encoder.finish()
}

fn alpha_name(k: usize) -> String {
    format!("a{k}")
}

/// What is drawn on the page.
struct PageContent {
    content: Content,
    /// Pairs of opacities of fills and strokes, which the page names `a0`, `a1`, ….
    alphas: Vec<[f32; 2]>,
}

impl PageContent {
    /// Draws a group and what it contains; `opacity` is that of the groups around it.
    fn group(&mut self, group: &Group, opacity: f32) {
        let opacity = opacity * group.opacity().get();
        self.content.save_state();
        self.transform(group.transform());
        if let Some(clip) = group.clip_path() {
            self.outlines(clip.root(), clip.transform());
            self.content.clip_nonzero().end_path();
        }
        for child in group.children() {
            match child {
                Node::Group(group) => self.group(group, opacity),
                Node::Path(path) if path.is_visible() => self.path(path, opacity),
                Node::Text(text) => self.group(text.flattened(), opacity),
                // Figures contain no images.
                Node::Path(_) | Node::Image(_) => {}
            }
        }
        self.content.restore_state();
    }

    /// Adds the outlines of all paths of a group, without drawing them.
    fn outlines(&mut self, group: &Group, transform: Transform) {
        let transform = transform.pre_concat(group.transform());
        for child in group.children() {
            match child {
                Node::Group(group) => self.outlines(group, transform),
                Node::Path(path) => {
                    if let Some(data) = path.data().clone().transform(transform) {
                        self.outline(&data);
                    }
                }
                Node::Text(_) | Node::Image(_) => {}
            }
        }
    }

    fn path(&mut self, path: &usvg::Path, opacity: f32) {
        self.content.save_state();
        let fill = path.fill().and_then(|fill| Some((fill, rgb(fill.paint())?)));
        let stroke = path.stroke().and_then(|stroke| Some((stroke, rgb(stroke.paint())?)));
        let fill_alpha = fill.map_or(1.0, |(fill, _)| fill.opacity().get());
        let stroke_alpha = stroke.map_or(1.0, |(stroke, _)| stroke.opacity().get());
        self.alpha([opacity * fill_alpha, opacity * stroke_alpha]);
        if let Some((_, [red, green, blue])) = fill {
            self.content.set_fill_rgb(red, green, blue);
        }
        if let Some((stroke, colour)) = stroke {
            self.stroke_style(stroke, colour);
        }
        let draws_stroke_first = path.paint_order() == PaintOrder::StrokeAndFill;
        for is_stroke in [draws_stroke_first, !draws_stroke_first] {
            match (is_stroke, fill, stroke) {
                (true, _, Some(_)) => {
                    self.outline(path.data());
                    self.content.stroke();
                }
                (false, Some((fill, _)), _) => {
                    self.outline(path.data());
                    match fill.rule() {
                        FillRule::NonZero => self.content.fill_nonzero(),
                        FillRule::EvenOdd => self.content.fill_even_odd(),
                    };
                }
                _ => {}
            }
        }
        self.content.restore_state();
    }

    fn stroke_style(&mut self, stroke: &usvg::Stroke, [red, green, blue]: [f32; 3]) {
        let cap = match stroke.linecap() {
            LineCap::Butt => LineCapStyle::ButtCap,
            LineCap::Round => LineCapStyle::RoundCap,
            LineCap::Square => LineCapStyle::ProjectingSquareCap,
        };
        let join = match stroke.linejoin() {
            LineJoin::Round => LineJoinStyle::RoundJoin,
            LineJoin::Bevel => LineJoinStyle::BevelJoin,
            LineJoin::Miter | LineJoin::MiterClip => LineJoinStyle::MiterJoin,
        };
        self.content
            .set_stroke_rgb(red, green, blue)
            .set_line_width(stroke.width().get())
            .set_line_cap(cap)
            .set_line_join(join);
        if let Some(dashes) = stroke.dasharray() {
            self.content.set_dash_pattern(dashes.iter().copied(), stroke.dashoffset());
        }
    }

    /// Sets the opacity of fills and strokes.
    fn alpha(&mut self, alphas: [f32; 2]) {
        if alphas == [1.0, 1.0] {
            return;
        }
        let known = self.alphas.iter().position(|known| *known == alphas);
        let k = known.unwrap_or_else(|| {
            self.alphas.push(alphas);
            self.alphas.len() - 1
        });
        self.content.set_parameters(Name(alpha_name(k).as_bytes()));
    }

    fn transform(&mut self, t: Transform) {
        if !t.is_identity() {
            self.content.transform([t.sx, t.ky, t.kx, t.sy, t.tx, t.ty]);
        }
    }

    fn outline(&mut self, path: &usvg::tiny_skia_path::Path) {
        let content = &mut self.content;
        let mut last = (0.0, 0.0);
        for segment in path.segments() {
            match segment {
                PathSegment::MoveTo(p) => content.move_to(p.x, p.y),
                PathSegment::LineTo(p) => content.line_to(p.x, p.y),
                // A PDF has cubic curves only.
                PathSegment::QuadTo(c, p) => {
                    let towards = |from: f32, to: f32| from + (to - from) * 2.0 / 3.0;
                    content.cubic_to(
                        towards(last.0, c.x),
                        towards(last.1, c.y),
                        towards(p.x, c.x),
                        towards(p.y, c.y),
                        p.x,
                        p.y,
                    )
                }
                PathSegment::CubicTo(a, b, p) => content.cubic_to(a.x, a.y, b.x, b.y, p.x, p.y),
                PathSegment::Close => content.close_path(),
            };
            if let PathSegment::MoveTo(p)
            | PathSegment::LineTo(p)
            | PathSegment::QuadTo(_, p)
            | PathSegment::CubicTo(_, _, p) = segment
            {
                last = (p.x, p.y);
            }
        }
    }
}

/// A plain colour with parts from 0 to 1; `None` for gradients and patterns, which figures do not have.
fn rgb(paint: &Paint) -> Option<[f32; 3]> {
    let Paint::Color(colour) = paint else { return None };
    Some([colour.red, colour.green, colour.blue].map(|part| f32::from(part) / 255.0))
}
